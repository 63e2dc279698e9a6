// Reads the chart and the compose file as Helm, Kubernetes and Compose do, and prints as JSON what they are to them.
//
//	manifests chart FOLDER [VALUES.json]    a list of the objects, after `helm lint` and a strict reading of each
//	manifests compose FILE [PROFILE…]       the services, networks and volumes
//
// Ends with 1 and one sentence a line when something is wrong with them. It needs no cluster and no container engine.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/compose-spec/compose-go/v2/cli"
	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"helm.sh/helm/v3/pkg/releaseutil"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

func main() {
	// Helm logs that the chart has links to the files of deploy/nats.
	log.SetOutput(io.Discard)
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return errors.New("usage: manifests chart FOLDER [VALUES.json] | manifests compose FILE [PROFILE…]")
	}
	var found any
	var err error
	switch args[0] {
	case "chart":
		found, err = chartObjects(args[1], args[2:])
	case "compose":
		found, err = composeProject(args[1], args[2:])
	default:
		err = fmt.Errorf("%q is unknown: chart or compose", args[0])
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}

func chartObjects(folder string, files []string) ([]any, error) {
	values := map[string]any{}
	for _, file := range files {
		given, err := chartutil.ReadValuesFile(file)
		if err != nil {
			return nil, err
		}
		values = chartutil.CoalesceTables(given, values)
	}
	if err := lintErrors(folder, values); err != nil {
		return nil, err
	}
	chart, err := loader.LoadDir(folder)
	if err != nil {
		return nil, err
	}
	release := chartutil.ReleaseOptions{Name: "voxgate", Namespace: "speech", Revision: 1, IsInstall: true}
	all, err := chartutil.ToRenderValues(chart, values, release, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	rendered, err := engine.Engine{Strict: true}.Render(chart, all)
	if err != nil {
		return nil, err
	}
	return objectsOf(rendered)
}

// What `helm lint --strict` reports.
func lintErrors(folder string, values map[string]any) error {
	var problems []error
	for _, message := range lint.All(folder, values, "speech", true).Messages {
		if message.Severity >= support.WarningSev {
			problems = append(problems, message)
		}
	}
	return errors.Join(problems...)
}

// Each object as Kubernetes reads it: an unknown field, a field twice or a value of another type is an error.
func objectsOf(rendered map[string]string) ([]any, error) {
	if err := monitoring.AddToScheme(scheme.Scheme); err != nil {
		return nil, err
	}
	decoder := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	var objects []any
	var problems []error
	for name, content := range rendered {
		if strings.HasSuffix(name, ".txt") {
			continue
		}
		for _, manifest := range releaseutil.SplitManifests(content) {
			if _, _, err := decoder.Decode([]byte(manifest), nil, nil); err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", name, err))
				continue
			}
			var object any
			if err := yaml.UnmarshalStrict([]byte(manifest), &object); err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", name, err))
				continue
			}
			objects = append(objects, object)
		}
	}
	slices.SortFunc(objects, func(one, other any) int { return strings.Compare(nameOf(one), nameOf(other)) })
	return objects, errors.Join(problems...)
}

func nameOf(object any) string {
	fields := object.(map[string]any)
	return fmt.Sprint(fields["kind"], fields["metadata"].(map[string]any)["name"])
}

func composeProject(file string, profiles []string) (any, error) {
	options, err := cli.NewProjectOptions(
		[]string{file},
		cli.WithWorkingDirectory(filepath.Dir(file)),
		cli.WithProfiles(profiles),
		cli.WithOsEnv,
		cli.WithName("voxgate"),
	)
	if err != nil {
		return nil, err
	}
	return options.LoadProject(context.Background())
}
