package podspec

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// hostPortsOf are the ports of a node that a pod takes. All ports of a pod in the node's own network are such ports.
func hostPortsOf(spec *corev1.PodSpec) []corev1.ContainerPort {
	var taken []corev1.ContainerPort
	each(spec, func(container *corev1.Container) {
		for _, port := range container.Ports {
			if spec.HostNetwork && port.HostPort == 0 {
				port.HostPort = port.ContainerPort
			}
			if port.HostPort != 0 {
				taken = append(taken, port)
			}
		}
	})
	return taken
}

// portsOn are the ports that are taken on each node.
func portsOn(pods []corev1.Pod) map[string][]corev1.ContainerPort {
	taken := map[string][]corev1.ContainerPort{}
	for i := range pods {
		if pod := &pods[i]; holds(pod) {
			taken[pod.Spec.NodeName] = append(taken[pod.Spec.NodeName], hostPortsOf(&pod.Spec)...)
		}
	}
	return taken
}

// collide says whether two lists want one port: the same number and protocol, at the same address or one of them at all.
func collide(ports, taken []corev1.ContainerPort) bool {
	return slices.ContainsFunc(ports, func(a corev1.ContainerPort) bool {
		return slices.ContainsFunc(taken, func(b corev1.ContainerPort) bool {
			address := everyAddress(a.HostIP) || everyAddress(b.HostIP) || a.HostIP == b.HostIP
			return a.HostPort == b.HostPort && protocol(a) == protocol(b) && address
		})
	})
}

func everyAddress(ip string) bool { return ip == "" || ip == "0.0.0.0" }

// protocol is TCP where none is named.
func protocol(port corev1.ContainerPort) corev1.Protocol {
	if port.Protocol == "" {
		return corev1.ProtocolTCP
	}
	return port.Protocol
}
