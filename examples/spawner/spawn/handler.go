package spawn

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/bursar-dev/bursar/podspec"
	"github.com/bursar-dev/bursar/podspec/live"
)

// maxBody bounds what a caller may send.
const maxBody = 1 << 16

// problem is the answer to a workload that got no pod.
type problem struct {
	Error string        `json:"error"`
	Retry podspec.Retry `json:"retry"`
	// Findings or Diagnosis say why, whichever side said no.
	Findings  []podspec.Finding  `json:"findings,omitempty"`
	Diagnosis *podspec.Diagnosis `json:"diagnosis,omitempty"`
}

// Handler serves the spawner: GET /workloads, POST /workloads with a Workload, DELETE /workloads/{id}. A new pod is answered
// with 201, one that was there with 200, a workload that is refused for good with 422, one that may fit later with 503.
func (s *Spawner) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /workloads", func(w http.ResponseWriter, r *http.Request) {
		all, err := s.Workloads(r.Context())
		if err != nil {
			fail(w, err)
			return
		}
		reply(w, http.StatusOK, all)
	})
	mux.HandleFunc("POST /workloads", func(w http.ResponseWriter, r *http.Request) {
		var wanted Workload
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&wanted); err != nil {
			reply(w, http.StatusBadRequest, problem{Error: "a workload is JSON with id and profile: " + err.Error(), Retry: podspec.RetryNever})
			return
		}
		spawned, err := s.Spawn(r.Context(), wanted)
		switch {
		case err != nil:
			fail(w, err)
		case spawned.Adopted:
			reply(w, http.StatusOK, map[string]any{"pod": spawned.Pod.Name, "adopted": true})
		default:
			reply(w, http.StatusCreated, map[string]any{"pod": spawned.Pod.Name, "said": spawned.Said})
		}
	})
	mux.HandleFunc("DELETE /workloads/{id}", func(w http.ResponseWriter, r *http.Request) {
		if err := s.Stop(r.Context(), r.PathValue("id")); err != nil {
			fail(w, err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	return mux
}

// fail tells why, and whether to try again.
func fail(w http.ResponseWriter, err error) {
	p := problem{Error: err.Error(), Retry: podspec.RetryNever}
	code := http.StatusUnprocessableEntity
	if rejected, ok := errors.AsType[*RejectedError](err); ok {
		p.Retry, p.Findings = rejected.Retry(), rejected.Outcome.Findings
	} else if refused, ok := errors.AsType[*live.RefusedError](err); ok {
		p.Retry, p.Diagnosis = refused.Diagnosis.Retry, &refused.Diagnosis
	} else if errors.Is(err, live.ErrForeign) {
		code = http.StatusConflict
	} else if d := podspec.ExplainError(err); d.Retry != podspec.RetryNever {
		p.Retry, p.Diagnosis = d.Retry, &d
	}
	if p.Retry != podspec.RetryNever {
		code = http.StatusServiceUnavailable
	}
	reply(w, code, p)
}

func reply(w http.ResponseWriter, code int, body any) {
	text, err := json.MarshalIndent(body, "", "  ")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(append(text, '\n')) // the caller has gone if this fails
}
