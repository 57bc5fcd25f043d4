package crds_test

import (
	"strings"
	"testing"
)

func periodRules() map[string]rule {
	const noZone = "spec.period.timezone in body should match"
	const aZone = "write the name of a zone of the IANA time zone database, such as Europe/Berlin"
	return map[string]rule{
		"weekStart": {
			`{type: Daily, weekStart: Monday}`, "spec.period: Invalid value: weekStart is only for type Weekly", `{type: Weekly, weekStart: Monday}`,
		},
		"weekStart is a day in full": {
			`{type: Weekly, weekStart: Mon}`, `spec.period.weekStart: Unsupported value: "Mon"`, `{type: Weekly, weekStart: Sunday}`,
		},
		"dayOfMonth": {
			`{type: Weekly, dayOfMonth: 1}`, "spec.period: Invalid value: dayOfMonth is only for types Monthly, Quarterly and Yearly", `{type: Monthly, dayOfMonth: 1}`,
		},
		"dayOfMonth is not 0": {
			`{type: Monthly, dayOfMonth: 0}`, "spec.period.dayOfMonth in body should be greater than or equal to 1", `{type: Monthly, dayOfMonth: 1}`,
		},
		"dayOfMonth is not 32": {
			`{type: Quarterly, dayOfMonth: 32}`, "spec.period.dayOfMonth in body should be less than or equal to 31", `{type: Quarterly, dayOfMonth: 31}`,
		},
		"startMonth": {
			`{type: Monthly, startMonth: 4}`, "spec.period: Invalid value: startMonth is only for types Quarterly and Yearly", `{type: Yearly, startMonth: 4}`,
		},
		"startMonth is not 0": {
			`{type: Yearly, startMonth: 0}`, "spec.period.startMonth in body should be greater than or equal to 1", `{type: Yearly, startMonth: 1}`,
		},
		"startMonth is not 13": {
			`{type: Quarterly, startMonth: 13}`, "spec.period.startMonth in body should be less than or equal to 12", `{type: Quarterly, startMonth: 12}`,
		},
		"timeOfDay": {
			`{type: Hourly, timeOfDay: "09:00"}`, "spec.period: Invalid value: timeOfDay is only for types Daily, Weekly, Monthly, Quarterly and Yearly", `{type: Daily, timeOfDay: "09:00"}`,
		},
		"timeOfDay is not 24:00": {
			`{type: Daily, timeOfDay: "24:00"}`, "spec.period.timeOfDay in body should match", `{type: Daily, timeOfDay: "23:59"}`,
		},
		"timeOfDay has two digits": {
			`{type: Daily, timeOfDay: "9:00"}`, "spec.period.timeOfDay in body should match", `{type: Daily, timeOfDay: "09:00"}`,
		},
		"unit is required for a Cycle": {
			`{type: Cycle, anchor: "2026-01-01T00:00:00Z"}`, "spec.period: Invalid value: unit is required for type Cycle and only for it",
			`{type: Cycle, anchor: "2026-01-01T00:00:00Z", unit: Day}`,
		},
		"unit is for a Cycle only": {
			`{type: Daily, unit: Day}`, "spec.period: Invalid value: unit is required for type Cycle and only for it", `{type: Daily}`,
		},
		"anchor is required for a Cycle": {
			`{type: Cycle, unit: Week}`, "spec.period: Invalid value: anchor is required for type Cycle", `{type: Cycle, unit: Week, anchor: "2026-01-01T00:00:00+05:45"}`,
		},
		"anchor is for Cycle and Fixed only": {
			`{type: Daily, anchor: "2026-01-01T00:00:00Z"}`, "spec.period: Invalid value: anchor is only for types Cycle and Fixed",
			`{type: Fixed, duration: 5h, anchor: "2026-01-01T00:00:00Z"}`,
		},
		"anchor is in whole seconds": {
			`{type: Fixed, duration: 5h, anchor: "2026-01-01T00:00:00.5Z"}`, "spec.period.anchor in body should match",
			`{type: Fixed, duration: 5h, anchor: "2026-01-01T00:00:00.000Z"}`,
		},
		"a time has a zone": {
			`{type: Fixed, duration: 5h, anchor: "2026-01-01T00:00:00"}`, "spec.period.anchor in body should match",
			`{type: Fixed, duration: 5h, anchor: "2026-01-01T00:00:00-00:30"}`,
		},
		"a time is one that exists": {
			`{type: Lifetime, endsAt: "2026-02-30T00:00:00Z"}`, "spec.period.endsAt in body must be of type date-time", `{type: Lifetime, endsAt: "2024-02-29T00:00:00Z"}`,
		},
		"every is for a Cycle only": {
			`{type: Daily, every: 2}`, "spec.period: Invalid value: every is only for type Cycle", `{type: Cycle, anchor: "2026-01-01T00:00:00Z", unit: Day, every: 2}`,
		},
		"every is not 0": {
			`{type: Cycle, anchor: "2026-01-01T00:00:00Z", unit: Day, every: 0}`, "spec.period.every in body should be greater than or equal to 1",
			`{type: Cycle, anchor: "2026-01-01T00:00:00Z", unit: Day, every: 1}`,
		},
		"every is a century of days": {
			`{type: Cycle, anchor: "2026-01-01T00:00:00Z", unit: Day, every: 36526}`, "every must be at most a century: 36525 days, 5218 weeks, 1200 months or 100 years",
			`{type: Cycle, anchor: "2026-01-01T00:00:00Z", unit: Day, every: 36525}`,
		},
		"every is a century of weeks": {
			`{type: Cycle, anchor: "2026-01-01T00:00:00Z", unit: Week, every: 5219}`, "every must be at most a century",
			`{type: Cycle, anchor: "2026-01-01T00:00:00Z", unit: Week, every: 5218}`,
		},
		"every is a century of months": {
			`{type: Cycle, anchor: "2026-01-01T00:00:00Z", unit: Month, every: 1201}`, "every must be at most a century",
			`{type: Cycle, anchor: "2026-01-01T00:00:00Z", unit: Month, every: 1200}`,
		},
		"every is a century of years": {
			`{type: Cycle, anchor: "2026-01-01T00:00:00Z", unit: Year, every: 101}`, "every must be at most a century",
			`{type: Cycle, anchor: "2026-01-01T00:00:00Z", unit: Year, every: 100}`,
		},
		"duration is required for Sliding": {
			`{type: Sliding}`, "spec.period: Invalid value: duration is required for types Fixed, FirstUse and Sliding and only for them", `{type: Sliding, duration: 30d}`,
		},
		"duration is not for Daily": {
			`{type: Daily, duration: 24h}`, "spec.period: Invalid value: duration is required for types Fixed, FirstUse and Sliding and only for them", `{type: FirstUse, duration: 24h}`,
		},
		"duration has one unit": {
			`{type: Sliding, duration: 1h30m}`, "spec.period.duration in body should match", `{type: Sliding, duration: 90m}`,
		},
		"duration is at least a minute": {
			`{type: Sliding, duration: 59s}`, `spec.period.duration: Invalid value: "59s": must be at least 60s`, `{type: Sliding, duration: 60s}`,
		},
		"duration is at most ten years": {
			`{type: Sliding, duration: 523w}`, `spec.period.duration: Invalid value: "523w": must be at most 3660d`, `{type: Sliding, duration: 522w}`,
		},
		"duration is at most ten years, in days": {
			`{type: Fixed, duration: 3661d}`, `spec.period.duration: Invalid value: "3661d": must be at most 3660d`, `{type: Fixed, duration: 3660d}`,
		},
		"startsAt and endsAt": {
			`{type: Yearly, endsAt: "2026-01-01T00:00:00Z"}`, "spec.period: Invalid value: startsAt and endsAt are only for type Lifetime", `{type: Lifetime, endsAt: "2026-01-01T00:00:00Z"}`,
		},
		"endsAt is after startsAt": {
			`{type: Lifetime, startsAt: "2026-01-01T01:00:00+01:00", endsAt: "2026-01-01T00:00:00Z"}`, "spec.period: Invalid value: endsAt must be after startsAt",
			`{type: Lifetime, startsAt: "2026-01-01T01:00:00+01:00", endsAt: "2026-01-01T00:00:01Z"}`,
		},
		"a zone that nobody knows": {
			`{type: Daily, timezone: Mars/Base}`, "unknown time zone Mars/Base evaluating rule: the API server knows no time zone of this name", `{type: Daily, timezone: Europe/Berlin}`,
		},
		"an offset is no zone":       {`{type: Daily, timezone: "+03:00"}`, noZone, `{type: Daily, timezone: Etc/GMT-3}`},
		"an empty part of a zone":    {`{type: Daily, timezone: America//New_York}`, noZone, `{type: Daily, timezone: America/New_York}`},
		"a path is no zone":          {`{type: Daily, timezone: ../Europe/Berlin}`, noZone, `{type: Daily, timezone: US/Pacific}`},
		"the server's own zone":      {`{type: Daily, timezone: Local}`, aZone, `{type: Daily, timezone: UTC}`},
		"in any case":                {`{type: Daily, timezone: lOCAL}`, aZone, `{type: Daily, timezone: UTC}`},
		"by another name":            {`{type: Daily, timezone: localtime}`, aZone, `{type: Daily, timezone: UTC}`},
		"by a third":                 {`{type: Daily, timezone: posixrules}`, aZone, `{type: Daily, timezone: UTC}`},
		"a placeholder":              {`{type: Daily, timezone: Factory}`, aZone, `{type: Daily, timezone: UTC}`},
		"the tree with leap seconds": {`{type: Daily, timezone: right/UTC}`, aZone, `{type: Daily, timezone: Etc/UTC}`},
		"its twin":                   {`{type: Daily, timezone: POSIX/Europe/Berlin}`, aZone, `{type: Daily, timezone: Europe/Berlin}`},
		"a long zone": {
			`{type: Daily, timezone: ` + strings.Repeat("a", 65) + `}`, "spec.period.timezone: Too long", `{type: Daily, timezone: America/Argentina/ComodRivadavia}`,
		},
	}
}

func TestA2_PeriodRules(t *testing.T) {
	for sentence, r := range periodRules() {
		t.Run(sentence, func(t *testing.T) {
			r.refused, r.passes = `{period: `+r.refused+`}`, `{period: `+r.passes+`}`
			r.check(t, "taskbudgets", "TaskBudget", "daily", parse(t, goodBudget))
		})
	}
}
