# METADATA
# description: Predicates on the model of the task.
package bursar.lib.models

# METADATA
# description: Whether the model is in the list. A name that ends in * stands for all that start alike.
listed(patterns) if {
	some pattern in patterns
	matches(pattern, input.task.model)
}

# METADATA
# scope: document
# description: Whether a name is the pattern, or starts like one that ends in *.
matches(pattern, name) if pattern == name

matches(pattern, name) if {
	endswith(pattern, "*")
	startswith(name, trim_suffix(pattern, "*"))
}
