# METADATA
# description: A pod beyond the usual size needs a label.
# custom:
#   params:
#     cpuMilli: {type: int, default: 4000}
#     memoryBytes: {type: int, default: 8589934592}
package bursar.bigger_pod

import data.bursar.lib.labels

big if input.pod.cpuMilli > data.params.cpuMilli

big if input.pod.memoryBytes > data.params.memoryBytes

big if input.pod.gpus > 0

deny contains {"code": "too-big", "msg": "a pod of this size needs the label size=large"} if {
	input.operation == "BuildPod"
	big
	not labels.equals("size", "large")
}

label contains {"key": "bursar.dev/size", "value": "large"} if {
	input.operation == "BuildPod"
	labels.equals("size", "large")
}
