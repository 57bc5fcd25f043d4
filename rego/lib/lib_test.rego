package bursar.lib_test

import data.bursar.lib.labels
import data.bursar.lib.models
import data.bursar.lib.money
import data.bursar.lib.time as clock

# Monday 2026-03-02 at noon UTC.
noon := 1772452800000

test_hour_is_of_the_zone if {
	clock.hour("UTC") == 12 with input.nowUnixMs as noon
	clock.hour("Asia/Tokyo") == 21 with input.nowUnixMs as noon
	clock.minute_of_day("Asia/Kolkata") == 1050 with input.nowUnixMs as noon
}

test_weekday_is_of_the_zone if {
	clock.weekday("UTC") == "Monday" with input.nowUnixMs as noon
	clock.weekday("Pacific/Kiritimati") == "Tuesday" with input.nowUnixMs as noon
}

test_business_hours_are_half_open if {
	clock.business_hours("UTC", 12, 13) with input.nowUnixMs as noon
	not clock.business_hours("UTC", 9, 12) with input.nowUnixMs as noon
}

test_no_business_on_saturday if {
	not clock.business_hours("UTC", 0, 24) with input.nowUnixMs as noon + ((5 * 24) * 3600000)
}

test_labels if {
	labels.present("team") with input.task.labels as {"team": "a"}
	not labels.present("team") with input.task.labels as {"team": ""}
	not labels.present("owner") with input.task.labels as {"team": "a"}
	labels.equals("team", "a") with input.task.labels as {"team": "a"}
	not labels.equals("team", "b") with input.task.labels as {"team": "a"}
	labels.one_of("team", ["a", "b"]) with input.task.labels as {"team": "b"}
	not labels.one_of("team", ["a", "b"]) with input.task.labels as {"team": "c"}
	labels.value("owner", "nobody") == "nobody" with input.task.labels as {}
}

test_models if {
	models.listed(["haiku", "opus*"]) with input.task.model as "opus-5"
	models.listed(["opus"]) with input.task.model as "opus"
	not models.listed(["opus"]) with input.task.model as "opus-5"
	not models.listed([]) with input.task.model as "opus"
}

test_money if {
	money.dollars(3) == 3000000
	money.text(12500000) == "12.50 USD"
	money.text(1) == "0.000001 USD"
	money.text(3000000) == "3.00 USD"
	money.text(0) == "0.00 USD"
	money.text(-1250000) == "-1.25 USD"
}
