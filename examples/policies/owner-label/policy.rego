# METADATA
# description: Every task names its owner; tasks of the sandbox are exempt.
package bursar.owner_label

import data.bursar.lib.labels

deny contains {"code": "owner-missing", "msg": "the label owner is required"} if {
	input.operation == "Admit"
	input.task.namespace != "sandbox"
	not labels.present("owner")
}

label contains {"key": "bursar.dev/owner", "value": input.task.labels.owner} if {
	input.operation == "RecordUsage"
	labels.present("owner")
}
