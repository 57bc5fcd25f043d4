# METADATA
# description: The wall clock of a zone at the instant of the call.
package bursar.lib.time

# METADATA
# description: The hour of the day, 0 to 23, in a zone of the tz database.
hour(zone) := time.clock([input.nowUnixMs * 1000000, zone])[0]

# METADATA
# description: The minute of the day, 0 to 1439, in a zone.
minute_of_day(zone) := (clock[0] * 60) + clock[1] if clock := time.clock([input.nowUnixMs * 1000000, zone])

# METADATA
# description: The name of the day, say Monday, in a zone.
weekday(zone) := time.weekday([input.nowUnixMs * 1000000, zone])

# METADATA
# description: Whether the day is neither Saturday nor Sunday in a zone.
workday(zone) if not weekday(zone) in {"Saturday", "Sunday"}

# METADATA
# description: Whether it is a workday and the hour lies in [from, to) in a zone.
business_hours(zone, from, to) if {
	workday(zone)
	h := hour(zone)
	h >= from
	h < to
}
