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
		var pool itemPool
		index := recordIndex{items: &pool}
		twin := map[types.UID]itemID{}
		hashOf := func(uid types.UID) uint64 { return uint64(len(uid)*7) + uint64(uid[len(uid)-1]%3)*13 }
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			uid := types.UID(fmt.Sprintf("%0*d", rapid.IntRange(1, 9).Draw(t, "length"), rapid.IntRange(0, 40).Draw(t, "uid")))
			hash := hashOf(uid)
			if id, ok := twin[uid]; !ok {
				id, it := pool.take()
				it.uid, twin[uid] = uid, id
				index.insert(hash, id)
			} else if rapid.Bool().Draw(t, "remove") {
				index.remove(hash, id)
				pool.give(id)
				delete(twin, uid)
			}
			if index.count != len(twin) {
				t.Fatalf("%d items, want %d", index.count, len(twin))
			}
			for known, id := range twin {
				if got, ok := index.find(hashOf(known), known); !ok || got != id {
					t.Fatalf("%s: found %d, %v, want %d", known, got, ok, id)
				}
			}
			_, want := twin[uid]
			if _, got := index.find(hash, uid); got != want {
				t.Fatalf("%s: found %v, want %v", uid, got, want)
			}
		}
	})
}
