# METADATA
# description: What one task may cost, by its priority.
# custom:
#   params:
#     low: {type: int, default: 500000, doc: micro-USD}
#     normal: {type: int, default: 5000000, doc: micro-USD}
#     high: {type: int, default: 25000000, doc: micro-USD}
package bursar.task_cost_cap

import data.bursar.lib.money

ceiling := data.params.high if input.task.priority == "high"

else := data.params.normal if input.task.priority == "normal"

else := data.params.low

cap contains {"field": "maxCostMicros", "value": ceiling} if input.operation in {"Admit", "Renew"}

deny contains {"code": "estimate-too-high", "msg": msg} if {
	input.operation == "Admit"
	input.estimate.costKnown
	input.estimate.costMicros > ceiling
	msg := sprintf("the estimate of %s exceeds %s per task", [money.text(input.estimate.costMicros), money.text(ceiling)])
}

warn contains {"code": "estimate-unknown", "msg": "the cost of the task is not known; it is capped"} if {
	input.operation == "Admit"
	not input.estimate.costKnown
}
