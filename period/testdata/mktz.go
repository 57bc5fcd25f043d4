//go:build ignore

// Command mktz writes the pinned zone data of the tests: run
//
//	go run testdata/mktz.go 2025c
//
// in this package's directory, with the version that lib/time/update.bash in
// GOROOT names. It packs GOROOT's lib/time/zoneinfo.zip into a compressed tar in
// which a zone that equals an earlier one is a link.
package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: go run testdata/mktz.go VERSION")
	}
	if err := pack("testdata/tzdata-" + os.Args[1] + ".tar.gz"); err != nil {
		log.Fatal(err)
	}
}

func pack(target string) error {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	zones, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		return err
	}
	defer zones.Close()
	out, err := os.Create(target)
	if err != nil {
		return err
	}
	compressed, _ := gzip.NewWriterLevel(out, gzip.BestCompression)
	archive := tar.NewWriter(compressed)
	seen := map[string]string{}
	for _, zone := range zones.File {
		if strings.HasSuffix(zone.Name, "/") {
			continue
		}
		data, err := contents(zone)
		if err != nil {
			return err
		}
		header := &tar.Header{Name: zone.Name, Mode: 0o644, Size: int64(len(data))}
		if first, known := seen[string(data)]; known {
			header = &tar.Header{Name: zone.Name, Mode: 0o644, Typeflag: tar.TypeLink, Linkname: first}
			data = nil
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(data); err != nil {
			return err
		}
		if len(data) > 0 {
			seen[string(data)] = zone.Name
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	if err := compressed.Close(); err != nil {
		return err
	}
	return out.Close()
}

func contents(zone *zip.File) ([]byte, error) {
	r, err := zone.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}
