package podspec_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/inf.v0"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/bursar-dev/bursar/podspec"
)

// outcome is what reading one dimension gives: a quantity as text, "unset", or an error with words in it.
type outcome struct {
	Quantity string
	Err      error
}

func read(t *testing.T, rules podspec.Rules, dimension podspec.Dimension) (outcome, error) {
	t.Helper()
	size, err := rules.Size(dimension)
	if err != nil {
		var wrong *podspec.SizeError
		if !errors.As(err, &wrong) {
			t.Fatalf("error %v (%T) is no *SizeError", err, err)
		}
		if wrong.Field == "" || wrong.Reason == "" {
			t.Errorf("error %#v lacks field or reason", wrong)
		}
		if !size.IsZero() {
			t.Errorf("a size %v came with the error %v", size, err)
		}
		return outcome{Err: wrong.Err}, err
	}
	names := size.Names()
	if len(names) == 0 {
		return outcome{Quantity: "unset"}, nil
	}
	amount, _ := size.Amount(names[0])
	quantity := amount.Quantity()
	return outcome{Quantity: quantity.String()}, nil
}

// TestNumberTable is the law of how numbers are read: one row per kind of slip that was seen in the field.
func TestNumberTable(t *testing.T) {
	one := resource.MustParse("1")
	cores := podspec.Cores
	raised := podspec.Rules{Caps: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4000"), corev1.ResourceMemory: resource.MustParse("1Ei")}}
	tiny := podspec.Rules{RoundUpTiny: true}
	unset, explicit := podspec.Rules{Zero: podspec.ZeroUnset}, podspec.Rules{Zero: podspec.ZeroExplicit}
	tests := map[string]struct {
		rules podspec.Rules
		in    podspec.Dimension
		want  string // quantity
		err   error
		says  string // part of the error
	}{
		"two cores are 2":                                   {in: cores(2), want: "2"},
		"half a core is 500m":                               {in: cores(0.5), want: "500m"},
		"a quarter of a core stays 250m":                    {in: cores(0.25), want: "250m"},
		"0.1+0.2 cores are 300m":                            {in: cores(func() float64 { a, b := 0.1, 0.2; return a + b }()), want: "300m"},
		"0.1+0.2 as text is 300m":                           {in: podspec.CPU("0.30000000000000004"), want: "300m"},
		"a fraction of a millicore rounds up":               {in: podspec.CPU("0.3001"), want: "301m"},
		"1.5 millicores round up":                           {in: cores(0.0015), want: "2m"},
		"0.0005 cores are too few":                          {in: cores(0.0005), err: podspec.ErrBelowMinimum, says: "1m"},
		"0.0004 cores are too few":                          {in: cores(0.0004), err: podspec.ErrBelowMinimum},
		"0.0001 cores are too few":                          {in: podspec.CPU("0.0001"), err: podspec.ErrBelowMinimum},
		"0.0005 cores are 1m on request":                    {rules: tiny, in: cores(0.0005), want: "1m"},
		"0.0001 cores are 1m on request":                    {rules: tiny, in: podspec.CPU("0.0001"), want: "1m"},
		"the smallest float is 1m on request":               {rules: tiny, in: cores(math.SmallestNonzeroFloat64), want: "1m"},
		"the largest float is too much":                     {in: cores(math.MaxFloat64), err: podspec.ErrAboveMaximum},
		"NaN cores are no number":                           {in: cores(math.NaN()), err: podspec.ErrNotFinite},
		"infinite cores are no number":                      {in: cores(math.Inf(1)), err: podspec.ErrNotFinite},
		"minus infinity is no number":                       {in: cores(math.Inf(-1)), err: podspec.ErrNotFinite},
		"nan as text is no number":                          {in: podspec.CPU("nan"), err: podspec.ErrNotFinite},
		"inf as text is no number":                          {in: podspec.CPU("inf"), err: podspec.ErrNotFinite},
		"-Inf as text is no number":                         {in: podspec.Memory("-Inf"), err: podspec.ErrNotFinite},
		"NaN MiB are no number":                             {in: podspec.MiBText("NaN"), err: podspec.ErrNotFinite},
		"half a core below zero is negative":                {in: cores(-0.5), err: podspec.ErrNegative},
		"-1 is negative":                                    {in: podspec.CPU("-1"), err: podspec.ErrNegative},
		"-1 MiB is negative":                                {in: podspec.MiB(-1), err: podspec.ErrNegative},
		"negative zero is zero":                             {in: cores(math.Copysign(0, -1)), err: podspec.ErrZero},
		"-0 as text is zero":                                {in: podspec.CPU("-0"), err: podspec.ErrZero},
		"zero cores are refused":                            {in: cores(0), err: podspec.ErrZero, says: "Rules.Zero"},
		"0 as text is refused":                              {in: podspec.CPU("0"), err: podspec.ErrZero},
		"0m is refused":                                     {in: podspec.CPU("0m"), err: podspec.ErrZero},
		"0 MiB are refused":                                 {in: podspec.MiBText("0"), err: podspec.ErrZero},
		"zero can mean unset":                               {rules: unset, in: cores(0), want: "unset"},
		"zero MiB can mean unset":                           {rules: unset, in: podspec.MiB(0), want: "unset"},
		"zero can be meant":                                 {rules: explicit, in: podspec.CPU("0"), want: "0"},
		"1e3 cores are a thousand":                          {in: podspec.CPU("1e3"), want: "1k"},
		"2e3 cores are above the cap":                       {in: podspec.CPU("2e3"), err: podspec.ErrAboveMaximum, says: "1024"},
		"2e3 cores are right once the cap is raised":        {rules: raised, in: podspec.CPU("2e3"), want: "2k"},
		"1025 cores are above the cap":                      {in: cores(1025), err: podspec.ErrAboveMaximum},
		"1e-3 cores are 1m":                                 {in: podspec.CPU("1e-3"), want: "1m"},
		"an absurd exponent is above the cap":               {in: podspec.CPU("1e999999999"), err: podspec.ErrAboveMaximum},
		"an absurd negative exponent is too few":            {in: podspec.CPU("1e-999999999"), err: podspec.ErrBelowMinimum},
		"an absurd exponent of zero is zero":                {in: podspec.CPU("0e999999999"), err: podspec.ErrZero},
		"white space around is ignored":                     {in: podspec.CPU(" 0.5 "), want: "500m"},
		"white space around MiB is ignored":                 {in: podspec.MiBText("\t1024\n"), want: "1Gi"},
		"a decimal comma is named":                          {in: podspec.CPU("0,5"), err: podspec.ErrSyntax, says: "write 0.5"},
		"empty text is unset":                               {in: podspec.CPU(""), want: "unset"},
		"blank text is unset":                               {in: podspec.Memory("  "), want: "unset"},
		"null is a template's gap":                          {in: podspec.CPU("null"), err: podspec.ErrSyntax, says: "template"},
		"<nil> is a template's gap":                         {in: podspec.Memory("<nil>"), err: podspec.ErrSyntax, says: "template"},
		"None is a template's gap":                          {in: podspec.MiBText("None"), err: podspec.ErrSyntax, says: "template"},
		"cpu takes a quantity too":                          {in: podspec.CPU("500m"), want: "500m"},
		"cpu with a plus sign":                              {in: podspec.CPU("+1"), want: "1"},
		"cpu with a trailing point":                         {in: podspec.CPU("5."), want: "5"},
		"cpu with a leading point":                          {in: podspec.CPU(".5"), want: "500m"},
		"cpu in micro":                                      {in: podspec.CPU("500000u"), want: "500m"},
		"cpu has no bytes":                                  {in: podspec.CPU("1Ki"), err: podspec.ErrSyntax, says: "bytes"},
		"cpu in words":                                      {in: podspec.CPU("2 cores"), err: podspec.ErrSyntax, says: "write 2"},
		"cpu in millicores in words":                        {in: podspec.CPU("500mCPU"), err: podspec.ErrSyntax, says: "write 500m"},
		"grouped digits are no number":                      {in: podspec.CPU("1_000"), err: podspec.ErrSyntax, says: "1000"},
		"hexadecimal is no number":                          {in: podspec.CPU("0x10"), err: podspec.ErrSyntax},
		"other digits than ASCII are refused":               {in: podspec.CPU("١"), err: podspec.ErrSyntax, says: "ASCII"},
		"invalid UTF-8 is refused":                          {in: podspec.Memory("\xff\xfe"), err: podspec.ErrSyntax},
		"two points are no number":                          {in: podspec.CPU("1.2.3"), err: podspec.ErrSyntax},
		"a point alone is no number":                        {in: podspec.CPU("."), err: podspec.ErrSyntax},
		"a sign alone is no number":                         {in: podspec.CPU("-"), err: podspec.ErrSyntax},
		"an exponent without digits":                        {in: podspec.CPU("1e"), err: podspec.ErrSyntax},
		"an exponent and a suffix":                          {in: podspec.Memory("1e3Mi"), err: podspec.ErrSyntax},
		"a very long text":                                  {in: podspec.CPU(strings.Repeat("9", 100000)), err: podspec.ErrSyntax},
		"4096 MB are 4Gi":                                   {in: podspec.MiBText("4096"), want: "4Gi"},
		"1024 MiB are 1Gi":                                  {in: podspec.MiB(1024), want: "1Gi"},
		"1500 MiB stay 1500Mi":                              {in: podspec.MiB(1500), want: "1500Mi"},
		"MB with a fraction":                                {in: podspec.MiBText("4096.5"), err: podspec.ErrFraction, says: "whole number of MiB"},
		"MB with a suffix":                                  {in: podspec.MiBText("4Gi"), err: podspec.ErrSyntax, says: "field for quantities, as 4Gi"},
		"MB with its own unit":                              {in: podspec.MiBText("500MB"), err: podspec.ErrSyntax, says: "write 500, or 500Mi"},
		"MB with an exponent":                               {in: podspec.MiBText("1e3"), err: podspec.ErrFraction},
		"MB without digits":                                 {in: podspec.MiBText("lots"), err: podspec.ErrSyntax, says: "field for quantities"},
		"MB in other digits":                                {in: podspec.MiBText("١"), err: podspec.ErrSyntax, says: "ASCII"},
		"far too many MiB":                                  {in: podspec.MiB(math.MaxInt64), err: podspec.ErrAboveMaximum},
		"MiB with very many digits":                         {in: podspec.MiBText(strings.Repeat("9", 100000)), err: podspec.ErrAboveMaximum},
		"memory 500Mi":                                      {in: podspec.Memory("500Mi"), want: "500Mi"},
		"memory 500M keeps powers of ten":                   {in: podspec.Memory("500M"), want: "500M"},
		"memory 0.5Gi":                                      {in: podspec.Memory("0.5Gi"), want: "512Mi"},
		"memory 1.5Gi":                                      {in: podspec.Memory("1.5Gi"), want: "1536Mi"},
		"memory 500MB":                                      {in: podspec.Memory("500MB"), err: podspec.ErrSyntax, says: "500Mi (or 500M"},
		"memory 500MiB":                                     {in: podspec.Memory("500MiB"), err: podspec.ErrSyntax, says: "500Mi"},
		"memory 512mi":                                      {in: podspec.Memory("512mi"), err: podspec.ErrSyntax, says: "512Mi"},
		"memory 1K":                                         {in: podspec.Memory("1K"), err: podspec.ErrSyntax, says: "1Ki (or 1k"},
		"memory 500m is half a byte":                        {in: podspec.Memory("500m"), err: podspec.ErrFraction, says: "write 500Mi"},
		"memory 0.1Mi is no whole number":                   {in: podspec.Memory("0.1Mi"), err: podspec.ErrFraction, says: "whole number of bytes"},
		"memory 4096.5 is no whole number":                  {in: podspec.Memory("4096.5"), err: podspec.ErrFraction, says: "4096.5Mi"},
		"one byte of memory":                                {in: podspec.Memory("1"), err: podspec.ErrBelowMinimum, says: "4Mi"},
		"4096 bytes were meant as MiB":                      {in: podspec.Memory("4096"), err: podspec.ErrBelowMinimum, says: "write 4096Mi"},
		"3 MiB are below the floor":                         {in: podspec.MiB(3), err: podspec.ErrBelowMinimum},
		"a cap that no number can hold":                     {rules: podspec.Rules{Caps: corev1.ResourceList{corev1.ResourceMemory: *resource.NewDecimalQuantity(*inf.NewDec(1, -100), resource.DecimalSI)}}, in: podspec.MiB(4), want: "4Mi"},
		"a comma between words":                             {in: podspec.Memory("a,b"), err: podspec.ErrSyntax, says: "such as 512Mi"},
		"4 MiB are the floor":                               {in: podspec.MiB(4), want: "4Mi"},
		"the floor can be lowered":                          {rules: podspec.Rules{Floors: corev1.ResourceList{corev1.ResourceMemory: one}}, in: podspec.Memory("1"), want: "1"},
		"the floor can be raised":                           {rules: podspec.Rules{Floors: corev1.ResourceList{corev1.ResourceCPU: one}}, in: podspec.CPU("0.9"), err: podspec.ErrBelowMinimum, says: "of 1"},
		"a floor cannot be negative":                        {rules: podspec.Rules{Floors: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("-1")}}, in: podspec.CPU("1"), err: podspec.ErrOption},
		"a cap cannot be negative":                          {rules: podspec.Rules{Caps: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("-1")}}, in: podspec.CPU("1"), err: podspec.ErrOption},
		"8Ei never fits, whatever the cap":                  {rules: raised, in: podspec.Memory("8Ei"), err: podspec.ErrAboveMaximum},
		"1Ei is the most that can be stored":                {rules: raised, in: podspec.Memory("1Ei"), want: "1Ei"},
		"one GPU":                                           {in: podspec.GPU(1), want: "1"},
		"zero GPUs are a declaration":                       {in: podspec.GPU(0), want: "0"},
		"zero GPUs can mean unset":                          {rules: unset, in: podspec.GPU(0), want: "unset"},
		"half a GPU":                                        {in: podspec.Text(podspec.GPUResource, "0.5"), err: podspec.ErrFraction, says: "devices"},
		"minus one GPU":                                     {in: podspec.GPU(-1), err: podspec.ErrNegative},
		"a GPU in bytes":                                    {in: podspec.Text(podspec.GPUResource, "1Ki"), err: podspec.ErrSyntax},
		"a GPU in words":                                    {in: podspec.Text(podspec.GPUResource, "one"), err: podspec.ErrSyntax, says: "such as 1"},
		"a GPU without domain":                              {in: podspec.Devices("gpu", 1), err: podspec.ErrResourceName, says: "nvidia.com/gpu"},
		"a device in the domain of Kubernetes":              {in: podspec.Devices("kubernetes.io/gpu", 1), err: podspec.ErrResourceName},
		"a device in a domain below it":                     {in: podspec.Devices("x.kubernetes.io/gpu", 1), err: podspec.ErrResourceName},
		"the name of a quota":                               {in: podspec.Devices("requests.nvidia.com/gpu", 1), err: podspec.ErrResourceName},
		"a name that is too long":                           {in: podspec.Devices(corev1.ResourceName("a.b/"+strings.Repeat("x", 400)), 1), err: podspec.ErrResourceName},
		"a name with a blank":                               {in: podspec.Devices("a.b/c d", 1), err: podspec.ErrResourceName},
		"a resource of a namespace":                         {in: podspec.Text("pods", "1"), err: podspec.ErrResourceName},
		"no name":                                           {in: podspec.Text("", "1"), err: podspec.ErrResourceName},
		"storage in MiB":                                    {in: podspec.EphemeralStorageMiB(2048), want: "2Gi"},
		"storage in MiB as text":                            {in: podspec.EphemeralStorageMiBText("10"), want: "10Mi"},
		"storage as a quantity":                             {in: podspec.EphemeralStorage("1G"), want: "1G"},
		"hugepages of a size":                               {in: podspec.Text("hugepages-2Mi", "4Mi"), want: "4Mi"},
		"hugepages that are no multiple":                    {in: podspec.Text("hugepages-2Mi", "3Mi"), err: podspec.ErrFraction, says: "page size"},
		"hugepages without size":                            {in: podspec.Text("hugepages-", "2Mi"), err: podspec.ErrResourceName},
		"a quantity that is held already":                   {in: podspec.Exact(corev1.ResourceMemory, resource.MustParse("1Gi")), want: "1Gi"},
		"a decimal quantity keeps its form":                 {in: podspec.Exact(corev1.ResourceMemory, resource.MustParse("5M")), want: "5M"},
		"a quantity was rounded to nano when it was parsed": {in: podspec.Exact(corev1.ResourceCPU, resource.MustParse("0.30000000000000004")), want: "301m"},
		"a quantity of absurd precision":                    {in: podspec.Exact(corev1.ResourceCPU, *resource.NewDecimalQuantity(*inf.NewDec(1, math.MaxInt32), resource.DecimalSI)), err: podspec.ErrNotFinite},
		"a negative quantity":                               {in: podspec.Exact(corev1.ResourceCPU, resource.MustParse("-1")), err: podspec.ErrNegative},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			want := outcome{Quantity: test.want, Err: test.err}
			got, err := read(t, test.rules, test.in)
			if got != want {
				t.Fatalf("got %+v (%v), want %+v", got, err, want)
			}
			if err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %q does not say %q", err, test.says)
			}
		})
	}
}

func TestNewSizeReportsEveryFault(t *testing.T) {
	_, err := podspec.NewSize(podspec.CPU("x"), podspec.MiB(-1), podspec.Devices("gpu", 1), podspec.CPU("0"))
	for _, want := range []error{podspec.ErrSyntax, podspec.ErrNegative, podspec.ErrResourceName, podspec.ErrZero} {
		if !errors.Is(err, want) {
			t.Errorf("%v is not reported in %v", want, err)
		}
	}
}

func TestDimensionWrittenTwiceIsAFault(t *testing.T) {
	if _, err := podspec.NewSize(podspec.MiB(64), podspec.Memory("64Mi")); !errors.Is(err, podspec.ErrConflict) {
		t.Errorf("got %v, want ErrConflict", err)
	}
}

func TestSizeKeepsSources(t *testing.T) {
	size := podspec.MustSize(podspec.Cores(0.5).From("spec"), podspec.MiB(1024), podspec.EphemeralStorageMiB(10).From("env X"))
	if got, want := size.String(), "cpu=500m (spec), ephemeral-storage=10Mi (env X), memory=1Gi (code)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	cpu, set := size.CPU()
	if !set || cpu.Source() != "spec" {
		t.Errorf("cpu %v, set %v", cpu, set)
	}
	if memory, set := size.Memory(); !set || memory.Source() != "code" {
		t.Errorf("memory %v, set %v", memory, set)
	}
	if storage, set := size.EphemeralStorage(); !set || storage.Source() != "env X" {
		t.Errorf("storage %v, set %v", storage, set)
	}
	if empty := (podspec.Size{}); empty.String() != "(nothing set)" || len(empty.Names()) != 0 {
		t.Errorf("the zero size is %v", empty)
	}
}

func TestMustSizePanicsOnABadConstant(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("MustSize of a negative size did not panic")
		}
	}()
	podspec.MustSize(podspec.MiB(-1))
}

func TestResolveMergesPerDimension(t *testing.T) {
	spec := podspec.MustSize(podspec.Cores(4).From("spec"))
	profile := podspec.MustSize(podspec.Cores(1).From("profile"), podspec.MiB(2048).From("profile"))
	fallback := podspec.MustSize(podspec.MiB(64), podspec.GPU(1))
	want := podspec.MustSize(podspec.Cores(4).From("spec"), podspec.MiB(2048).From("profile"), podspec.GPU(1))
	if diff := cmp.Diff(want, podspec.Resolve(spec, podspec.Size{}, profile, fallback)); diff != "" {
		t.Error(diff)
	}
	if !podspec.Resolve().IsZero() {
		t.Error("no layers give a size")
	}
}

func TestZeroDevicesOverrideTheProfile(t *testing.T) {
	merged := podspec.Resolve(podspec.MustSize(podspec.GPU(0)), podspec.MustSize(podspec.GPU(2), podspec.Cores(1), podspec.MiB(64)))
	resources, err := podspec.BuildPodResources(merged)
	if err != nil {
		t.Fatal(err)
	}
	if _, there := resources.Limits[podspec.GPUResource]; there {
		t.Errorf("a declared zero did not take the profile's devices away: %v", resources)
	}
}
