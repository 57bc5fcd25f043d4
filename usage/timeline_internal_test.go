package usage

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/bursar-dev/bursar/period"
)

// TestATimelineOfManyBlocksSumsAnyStretch: so many items that totals of blocks
// and their prefixes carry the sums, entered and taken out in no order.
func TestATimelineOfManyBlocksSumsAnyStretch(t *testing.T) {
	const n, span = 3 * maxChunk * blockSize, 50_000
	sliding, err := period.Compile(period.Spec{Type: period.Sliding, Duration: "1d"})
	if err != nil {
		t.Fatal(err)
	}
	a := newAccount(&Scope{Name: "s", Namespace: "ns", Selector: labels.Everything(), Period: sliding, Meters: []Meter{CostUSD, Tasks}})
	a.meters = []meterID{7, 8}
	line := timeline{account: a}
	random := rand.New(rand.NewPCG(3, 5))
	items := make([]*item, n)
	for i := range items {
		items[i] = &item{uid: types.UID(strconv.Itoa(i)), atSec: random.Int64N(span), count: 1}
		items[i].few[0] = itemFigure{amount: random.Int64N(1000), meter: 7, code: codeReported, sign: 1}
	}
	in := map[*item]bool{}
	compare := func(rounds int) {
		t.Helper()
		for range rounds {
			at := instant{sec: random.Int64N(span + 2)}
			var cost, tasks int64
			for it := range in {
				if it.at().before(at) {
					cost, tasks = cost+it.few[0].amount, tasks+1
				}
			}
			gotCost, gotTasks := line.before(at, 0), line.before(at, 1)
			if gotCost.known.clamp() != cost || gotTasks.known.clamp() != tasks {
				t.Fatalf("before %d of %d items: %d for %d tasks, want %d for %d", at.sec, len(in), gotCost.known.clamp(), gotTasks.known.clamp(), cost, tasks)
			}
		}
	}
	change := func(it *item) {
		sign := int64(1)
		if in[it] {
			sign = -1
			delete(in, it)
		} else {
			in[it] = true
		}
		line.change(it, sign)
	}
	for i, it := range items {
		change(it)
		if i%(n/20) == 0 {
			compare(3)
		}
	}
	if len(line.blocks) < 2 {
		t.Fatalf("%d blocks: the test has too few items", len(line.blocks))
	}
	for range n { // some leave, some come back, with questions in between
		change(items[random.IntN(n)])
		if random.IntN(n/40) == 0 {
			compare(2)
		}
	}
	for it := range in {
		change(it)
		if random.IntN(n/20) == 0 {
			compare(1)
		}
	}
	if len(line.chunks) != 0 {
		t.Errorf("%d chunks of nothing are left", len(line.chunks))
	}
}
