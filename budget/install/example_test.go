package install_test

import (
	"fmt"

	"github.com/bursar-dev/bursar/budget/install"
)

func ExampleCRDs() {
	crds, err := install.CRDs()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, crd := range crds {
		fmt.Println(crd.Name, crd.Spec.Names.ShortNames, crd.Spec.Names.Categories)
	}
	// Output:
	// taskbudgets.bursar.dev [tb] [bursar]
	// taskholds.bursar.dev [th] [bursar]
	// taskrecords.bursar.dev [tr] [bursar]
}
