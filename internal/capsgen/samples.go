package capsgen

import (
	"encoding/json"

	"github.com/bursar-dev/bursar/policy"
)

// Samples renders the sample inputs as JSON, by the name of their file.
func Samples() (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, s := range policy.Samples() {
		text, err := json.MarshalIndent(s.Input, "", "  ")
		if err != nil {
			return nil, err
		}
		files[s.Name+".json"] = append(text, '\n')
	}
	return files, nil
}
