package period_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"pgregory.net/rapid"

	"github.com/bursar-dev/bursar/period"
)

// The tests run on zone data of their own, so that they mean the same on every
// machine and after the next change of a law. testdata/mktz.go makes it.
const pinnedData = "testdata/tzdata-2025c.tar.gz"

type zoneData struct {
	names     []string
	locations map[string]*time.Location
}

var pinned = sync.OnceValues(readPinned)

func readPinned() (zoneData, error) {
	zones := zoneData{locations: map[string]*time.Location{}}
	file, err := os.Open(pinnedData)
	if err != nil {
		return zones, err
	}
	defer func() { _ = file.Close() }() // it was only read
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return zones, err
	}
	contents := map[string][]byte{}
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			slices.Sort(zones.names)
			return zones, nil
		}
		if err != nil {
			return zones, err
		}
		data := contents[header.Linkname]
		if header.Typeflag != tar.TypeLink {
			if data, err = io.ReadAll(archive); err != nil {
				return zones, err
			}
		}
		contents[header.Name] = data
		if zones.locations[header.Name], err = time.LoadLocationFromTZData(header.Name, data); err != nil {
			return zones, err
		}
		if header.Name != "Factory" { // a placeholder, which Compile refuses
			zones.names = append(zones.names, header.Name)
		}
	}
}

// zoneNames lists every zone of the pinned data.
func zoneNames(t rapid.TB) []string {
	t.Helper()
	zones, err := pinned()
	if err != nil {
		t.Fatal(err)
	}
	return zones.names
}

// pinnedZone is a period.ZoneSource over the pinned data.
func pinnedZone(name string) (*time.Location, error) {
	zones, err := pinned()
	if err != nil {
		return nil, err
	}
	if loc, ok := zones.locations[name]; ok {
		return loc, nil
	}
	return nil, fmt.Errorf("the pinned data has no zone %s", name)
}

// compile compiles a spec that must be right, on the pinned data.
func compile(t rapid.TB, spec period.Spec) *period.Period {
	t.Helper()
	p, err := period.Compile(spec, period.WithZones(pinnedZone))
	if err != nil {
		t.Fatalf("Compile(%+v): %v", spec, err)
	}
	return p
}

// instant reads RFC 3339.
func instant(t rapid.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// window reads two instants.
func window(t rapid.TB, start, end string) period.Window {
	t.Helper()
	return period.Window{Start: instant(t, start), End: instant(t, end)}
}

// exhaustive says whether the brute-force tests look at everything.
func exhaustive() bool { return os.Getenv("BURSAR_LONG") == "1" }
