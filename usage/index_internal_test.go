package usage

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

// TestRecordIndexEqualsAMap: few hashes, so that items meet and wrap around the
// end of the table.
func TestRecordIndexEqualsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var index recordIndex
		twin := map[types.UID]*item{}
		hashOf := func(uid types.UID) uint64 { return uint64(len(uid)*7) + uint64(uid[len(uid)-1]%3)*13 }
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			uid := types.UID(fmt.Sprintf("%0*d", rapid.IntRange(1, 9).Draw(t, "length"), rapid.IntRange(0, 40).Draw(t, "uid")))
			hash := hashOf(uid)
			if it := twin[uid]; it == nil {
				twin[uid] = &item{uid: uid}
				index.insert(hash, twin[uid])
			} else if rapid.Bool().Draw(t, "remove") {
				index.remove(hash, it)
				delete(twin, uid)
			}
			if index.count != len(twin) {
				t.Fatalf("%d items, want %d", index.count, len(twin))
			}
			for known, it := range twin {
				if got := index.find(hashOf(known), known); got != it {
					t.Fatalf("%s: found %p, want %p", known, got, it)
				}
			}
			if _, ok := twin[uid]; !ok && index.find(hash, uid) != nil {
				t.Fatalf("%s was removed and is found", uid)
			}
		}
	})
}
