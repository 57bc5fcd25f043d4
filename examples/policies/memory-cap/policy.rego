# METADATA
# description: The memory that a pod may have, by its profile.
package bursar.memory_cap

caps := {"meeting-bot": units.parse_bytes("2Gi"), "agent-worker": units.parse_bytes("6Gi")}

cap contains {"field": "memoryBytes", "value": caps[input.pod.profile]} if input.operation == "BuildPod"

cap contains {"field": "memoryBytes", "value": units.parse_bytes("1Gi")} if {
	input.operation == "BuildPod"
	not caps[input.pod.profile]
}

warn contains {"code": "capped", "msg": "the profile agent-worker has at most 6Gi"} if {
	input.operation == "BuildPod"
	input.pod.profile == "agent-worker"
	input.pod.memoryBytes > caps["agent-worker"]
}
