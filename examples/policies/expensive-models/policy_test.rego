package bursar.expensive_models_test

import data.bursar.expensive_models

params := {"models": ["opus", "ultra"], "ceiling": 800}

test_opus_starts_below_the_ceiling if {
	count(expensive_models.deny) == 0 with data.params as params
		with input.operation as "Admit"
		with input.task.model as "opus"
		with input.budget.cost.committedPermille as 799
}

test_opus_is_refused_at_the_ceiling if {
	some reason in expensive_models.deny with data.params as params
		with input.operation as "Admit"
		with input.task.model as "opus"
		with input.budget.name as "team-a"
		with input.budget.cost.committedPermille as 800
	reason.code == "expensive-model"
	reason.msg == "model opus starts only below 80% of budget team-a"
}

test_haiku_starts_at_any_time if {
	count(expensive_models.deny) == 0 with data.params as params
		with input.operation as "Admit"
		with input.task.model as "haiku"
		with input.budget.cost.committedPermille as 1000
}
