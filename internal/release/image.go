package main

import (
	"encoding/json"
	"slices"
	"time"
)

// imageUser is the user that a container runs as if no other is named. It has no rights.
const imageUser = 65532

// descriptor points at a blob of an image (opencontainers/image-spec, descriptor.md).
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *platformOf       `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type platformOf struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

// The media types of image-spec 1.1 (media-types.md).
const (
	typeIndex    = "application/vnd.oci.image.index.v1+json"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// blobs are the files of an image, named by their hashes.
type blobs []node

func (b *blobs) add(mediaType string, data []byte) descriptor {
	sum := hash(data)
	*b = append(*b, node{name: "blobs/sha256/" + sum, data: data, mode: 0o644})
	return descriptor{MediaType: mediaType, Digest: "sha256:" + sum, Size: len(data)}
}

func (b *blobs) addJSON(mediaType string, value any) (descriptor, error) {
	text, err := json.Marshal(value)
	return b.add(mediaType, text), err
}

// layer returns the one layer of an image: the programs, a user without rights, and the
// folders that they need. Any user may write in the home folder, since a container is often
// run as the owner of the mounted files.
func layer(programs, licences []entry, at time.Time) ([]byte, error) {
	nodes := []node{
		{name: "etc/", mode: 0o755},
		{name: "etc/group", mode: 0o644, data: []byte("root:x:0:\nnonroot:x:65532:\n")},
		{name: "etc/passwd", mode: 0o644, data: []byte("root:x:0:0:root:/:/none\nnonroot:x:65532:65532:nonroot:/home/nonroot:/none\n")},
		{name: "home/", mode: 0o755},
		{name: "home/nonroot/", mode: 0o1777, owner: imageUser},
		{name: "project/", mode: 0o755, owner: imageUser},
		{name: "tmp/", mode: 0o1777},
		{name: "usr/", mode: 0o755},
		{name: "usr/bin/", mode: 0o755},
	}
	for _, e := range programs {
		nodes = append(nodes, node{name: "usr/bin/" + e.name, data: e.data, mode: 0o755})
	}
	nodes = append(nodes, node{name: "usr/share/", mode: 0o755}, node{name: "usr/share/fsmcp/", mode: 0o755})
	for _, e := range licences {
		nodes = append(nodes, node{name: "usr/share/fsmcp/" + e.name, data: e.data, mode: 0o644})
	}
	return tarOf(nodes, at)
}

// imageConfig returns the configuration of an image (image-spec, config.md).
func (r *release) imageConfig(f facts, layerHash string) map[string]any {
	return map[string]any{
		"created": r.time.Format(time.RFC3339), "architecture": f.Product.Arch, "os": f.Product.OS,
		"config": map[string]any{
			"User": "65532:65532", "WorkingDir": "/project",
			"Entrypoint": []string{"/usr/bin/fsmcp"}, "Cmd": []string{"serve", "/project"},
			"Env": []string{"PATH=/usr/bin", "HOME=/home/nonroot"},
			"Labels": map[string]string{
				"org.opencontainers.image.title": "fsmcp", "org.opencontainers.image.version": f.Version,
				"org.opencontainers.image.revision": r.commit, "org.opencontainers.image.licenses": ownLicence,
			},
		},
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + layerHash}},
		"history": []any{map[string]any{"created": r.time.Format(time.RFC3339), "created_by": "make release", "comment": "UNPUBLISHED"}},
	}
}

// image returns an image for containers as an archive that "podman load" and "docker load"
// take: an OCI layout (image-spec, image-layout.md) with the manifest of "docker save" beside
// it, for a Docker that knows no such layout.
func (r *release) image(f facts, programs, licences []entry) ([]byte, error) {
	plain, err := layer(programs, licences, r.time)
	if err != nil {
		return nil, err
	}
	packed, err := compress(plain, r.level)
	if err != nil {
		return nil, err
	}
	var all blobs
	contents := all.add(typeLayer, packed)
	config, err := all.addJSON(typeConfig, r.imageConfig(f, hash(plain)))
	if err != nil {
		return nil, err
	}
	manifest, err := all.addJSON(typeManifest, map[string]any{"schemaVersion": 2, "mediaType": typeManifest, "config": config, "layers": []descriptor{contents}})
	if err != nil {
		return nil, err
	}
	head, err := imageHead(f, manifest, config, contents)
	if err != nil {
		return nil, err
	}
	return tarOf(slices.Concat(head, all), r.time)
}

// imageHead returns the files of an image that are not named by their hashes.
func imageHead(f facts, manifest, config, contents descriptor) ([]node, error) {
	name := "localhost/fsmcp:" + f.Version // in no registry
	manifest.Platform = &platformOf{Architecture: f.Product.Arch, OS: f.Product.OS}
	manifest.Annotations = map[string]string{"io.containerd.image.name": name, "org.opencontainers.image.ref.name": f.Version}
	index, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": typeIndex, "manifests": []descriptor{manifest}})
	if err != nil {
		return nil, err
	}
	docker, err := json.Marshal([]any{map[string]any{"Config": fileOf(config), "RepoTags": []string{name}, "Layers": []string{fileOf(contents)}}})
	if err != nil {
		return nil, err
	}
	return []node{
		{name: "oci-layout", mode: 0o644, data: []byte(`{"imageLayoutVersion":"1.0.0"}`)},
		{name: "index.json", mode: 0o644, data: index},
		{name: "manifest.json", mode: 0o644, data: docker},
		{name: "blobs/", mode: 0o755}, {name: "blobs/sha256/", mode: 0o755},
	}, nil
}

// fileOf returns the name of a blob in an image.
func fileOf(d descriptor) string { return "blobs/sha256/" + d.Digest[len("sha256:"):] }
