# METADATA
# description: Predicates on the labels of the task.
package bursar.lib.labels

# METADATA
# description: Whether the task has the label, with any value but the empty one.
present(key) if object.get(input.task.labels, key, "") != ""

# METADATA
# description: Whether the task has the label with this value.
equals(key, value) if input.task.labels[key] == value

# METADATA
# description: Whether the task has the label with one of these values.
one_of(key, values) if input.task.labels[key] in values

# METADATA
# description: The value of the label, or a default if the task lacks it.
value(key, default_value) := object.get(input.task.labels, key, default_value)
