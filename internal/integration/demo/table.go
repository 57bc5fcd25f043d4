package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"text/tabwriter"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// tables asks the API server for what kubectl get prints.
type tables struct {
	http      *http.Client
	host      string
	namespace string
}

func newTables(config *rest.Config, namespace string) (*tables, error) {
	c, err := rest.HTTPClientFor(config)
	return &tables{http: c, host: config.Host, namespace: namespace}, err
}

// get reads the table of a resource, such as "bursar.dev/v1alpha1/taskbudgets".
func (t *tables) get(ctx context.Context, resource string) (*metav1.Table, error) {
	group, name, ok := cutLast(resource)
	if !ok {
		return nil, fmt.Errorf("%s is no resource", resource)
	}
	url := t.host + "/apis/" + group + "/namespaces/" + t.namespace + "/" + name
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
	response, err := t.http.Do(request)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, err
	}
	table := &metav1.Table{}
	if err := json.Unmarshal(body, table); err != nil || response.StatusCode != http.StatusOK || table.Kind != "Table" {
		return nil, fmt.Errorf("GET %s: %s, %w", url, response.Status, errors.Join(err, errors.New(table.Kind+" is no Table")))
	}
	return table, nil
}

func cutLast(path string) (before, after string, ok bool) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return "", "", false
	}
	return path[:i], path[i+1:], true
}

// column gives the cells of a column, nil if there is none of that name.
func column(table *metav1.Table, name string) []string {
	for i, c := range table.ColumnDefinitions {
		if c.Name == name {
			cells := make([]string, len(table.Rows))
			for j, row := range table.Rows {
				cells[j] = cell(row.Cells[i])
			}
			return cells
		}
	}
	return nil
}

// show prints the columns that kubectl get shows without -o wide, as it does.
func show(out io.Writer, table *metav1.Table, keep func(row int) bool) error {
	lines := &bytes.Buffer{}
	line := func(text func(i int) string) {
		var cells []string
		for i, c := range table.ColumnDefinitions {
			if c.Priority == 0 {
				cells = append(cells, text(i))
			}
		}
		fmt.Fprintln(lines, "  "+strings.Join(cells, "\t"))
	}
	line(func(i int) string { return strings.ToUpper(table.ColumnDefinitions[i].Name) })
	for j, row := range table.Rows {
		if keep == nil || keep(j) {
			line(func(i int) string { return cell(row.Cells[i]) })
		}
	}
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	if _, err := lines.WriteTo(w); err != nil {
		return err
	}
	return w.Flush()
}

func cell(value any) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}
