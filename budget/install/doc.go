// Package install puts CustomResourceDefinitions on an API server and waits
// until they are served.
//
//	c, err := client.New(config, client.Options{})
//	...
//	err = install.Install(ctx, c, install.Options{})
//
// Call it before the manager starts, with a client that has no cache: informers
// can't sync before their resources are served, and a webhook that the host waits
// for needs the manager. Install itself waits for no webhook.
//
// It applies on the server side, so that what others own in a CRD (a CA bundle
// that was injected, labels of a package manager) stays, and a field that another
// manager owns with another value is a conflict, not a silent change. Where
// several replicas start at once, all may install: the result is the same.
//
// A CA bundle belongs to a conversion webhook. The CRDs of bursar have none, so
// they never get one; for the host's own ([Options.Also]) the bundle is set, and
// checked, exactly where spec.conversion.strategy is Webhook.
//
// It never deletes a CRD: that would delete every object of it.
package install
