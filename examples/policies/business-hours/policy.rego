# METADATA
# description: No task starts outside the business hours of a zone; urgent ones are exempt.
# custom:
#   params:
#     zone: {type: string, default: Europe/Paris}
#     from: {type: int, default: 9, doc: first hour}
#     to: {type: int, default: 18, doc: first hour after}
package bursar.business_hours

import data.bursar.lib.time as clock

hold contains {"code": "outside-business-hours", "msg": msg, "retryAfterSeconds": 900} if {
	input.operation == "Admit"
	input.task.priority != "urgent"
	not clock.business_hours(data.params.zone, data.params.from, data.params.to)
	msg := sprintf("tasks start on workdays from %d:00 to %d:00, %s", [data.params.from, data.params.to, data.params.zone])
}
