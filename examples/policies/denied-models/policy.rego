# METADATA
# description: Models that no task may use, by name or by what the name starts with.
package bursar.denied_models

import data.bursar.lib.models

deny contains {"code": "model-denied", "msg": sprintf("model %s may not be used", [input.task.model])} if {
	input.operation == "Admit"
	models.listed(["legacy-1", "preview-*"])
}

deny contains {"code": "model-missing", "msg": "the task names no model"} if {
	input.operation == "Admit"
	input.task.model == ""
}
