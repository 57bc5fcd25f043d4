# METADATA
# description: Hold off when the budget is committed so fast that it would not last for its window.
# custom:
#   params:
#     ahead: {type: int, default: 200, doc: thousandths that spending may be ahead of time}
package bursar.burn_rate

excess := (input.budget.cost.committedPermille - data.params.ahead) - input.budget.period.elapsedPermille

seconds := floor((input.budget.period.endUnixMs - input.budget.period.startUnixMs) / 1000)

hold contains {"code": "burning-too-fast", "msg": msg, "retryAfterSeconds": retry} if {
	input.operation == "Admit"
	input.budget.period.bounded
	not input.budget.cost.unlimited
	excess > 0
	retry := floor((excess * seconds) / 1000) + 1
	msg := sprintf("budget %s is %d thousandths ahead of its pace", [input.budget.name, excess])
}
