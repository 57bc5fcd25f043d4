package install

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Converts reports whether objects of the CRD are converted by a webhook, which
// is when the CRD has a use for a CA bundle.
func Converts(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return crd.Spec.Conversion != nil && crd.Spec.Conversion.Strategy == apiextensionsv1.WebhookConverter
}

// CheckCABundle reports why a bundle can't be used: it must be certificates in
// PEM, at least one, and nothing else.
func CheckCABundle(bundle []byte) error {
	count := 0
	for rest := bundle; ; count++ {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			return fmt.Errorf("CA bundle: block %d is %s, want CERTIFICATE", count+1, block.Type)
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return fmt.Errorf("CA bundle: certificate %d: %w", count+1, err)
		}
	}
	if count == 0 {
		return errors.New("CA bundle: it has no certificate in PEM")
	}
	return nil
}

// setCABundle gives the bundle to a CRD that has a conversion webhook and leaves
// every other one alone. Without a bundle the CRD keeps the one that it brings;
// one that brings none is left to whoever injects it on the cluster.
func setCABundle(crd *apiextensionsv1.CustomResourceDefinition, bundle []byte) error {
	if !Converts(crd) {
		return nil
	}
	webhook := crd.Spec.Conversion.Webhook
	if webhook == nil || webhook.ClientConfig == nil {
		return fmt.Errorf("CRD %s: spec.conversion.webhook.clientConfig: required where the strategy is Webhook", crd.Name)
	}
	if len(bundle) > 0 {
		webhook.ClientConfig.CABundle = bundle
	}
	if len(webhook.ClientConfig.CABundle) == 0 {
		return nil
	}
	if err := CheckCABundle(webhook.ClientConfig.CABundle); err != nil {
		return fmt.Errorf("CRD %s: spec.conversion.webhook.clientConfig.caBundle: %w", crd.Name, err)
	}
	return nil
}
