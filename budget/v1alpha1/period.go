package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:validation:XValidation:rule="!has(self.weekStart) || self.type == 'Weekly'",message="weekStart is only for type Weekly"
// +kubebuilder:validation:XValidation:rule="!has(self.dayOfMonth) || self.type in ['Monthly','Quarterly','Yearly']",message="dayOfMonth is only for types Monthly, Quarterly and Yearly"
// +kubebuilder:validation:XValidation:rule="!has(self.startMonth) || self.type in ['Quarterly','Yearly']",message="startMonth is only for types Quarterly and Yearly"
// +kubebuilder:validation:XValidation:rule="!has(self.timeOfDay) || self.type in ['Daily','Weekly','Monthly','Quarterly','Yearly']",message="timeOfDay is only for types Daily, Weekly, Monthly, Quarterly and Yearly"
// +kubebuilder:validation:XValidation:rule="(self.type == 'Cycle') == has(self.unit)",message="unit is required for type Cycle and only for it"
// +kubebuilder:validation:XValidation:rule="self.type != 'Cycle' || has(self.anchor)",message="anchor is required for type Cycle"
// +kubebuilder:validation:XValidation:rule="!has(self.every) || self.type == 'Cycle'",message="every is only for type Cycle"
// +kubebuilder:validation:XValidation:rule="!has(self.every) || !has(self.unit) || self.every <= (self.unit == 'Day' ? 36525 : self.unit == 'Week' ? 5218 : self.unit == 'Month' ? 1200 : 100)",message="every must be at most a century: 36525 days, 5218 weeks, 1200 months or 100 years"
// +kubebuilder:validation:XValidation:rule="!has(self.anchor) || self.type in ['Cycle','Fixed']",message="anchor is only for types Cycle and Fixed"
// +kubebuilder:validation:XValidation:rule="(self.type in ['Fixed','FirstUse','Sliding']) == has(self.duration)",message="duration is required for types Fixed, FirstUse and Sliding and only for them"
// +kubebuilder:validation:XValidation:rule="self.type == 'Lifetime' || (!has(self.startsAt) && !has(self.endsAt))",message="startsAt and endsAt are only for type Lifetime"
// +kubebuilder:validation:XValidation:rule="!has(self.startsAt) || !has(self.endsAt) || self.startsAt < self.endsAt",message="endsAt must be after startsAt"

// Period says into which windows a budget cuts the time. A boundary is the
// first instant at which the zone's wall clock shows the boundary's label or
// later, so that windows tile the time line in every zone.
type Period struct {
	// type is the kind of period.
	// +kubebuilder:validation:Enum=Hourly;Daily;Weekly;Monthly;Quarterly;Yearly;Cycle;Fixed;FirstUse;Sliding;Lifetime
	Type string `json:"type"`
	// timezone is a name of the IANA time zone database, such as
	// Europe/Berlin. UTC if it is empty. The API server refuses a name that it
	// does not know, unless the object has it already: a budget whose zone is
	// gone from the database can still be told so in its status.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$`
	// +kubebuilder:validation:XValidation:rule="!(self.lowerAscii().split('/')[0] in ['local','localtime','posixrules','factory','right','posix'])",message="write the name of a zone of the IANA time zone database, such as Europe/Berlin"
	// +kubebuilder:validation:XValidation:rule="(oldSelf.hasValue() && oldSelf.value() == self) || timestamp('2000-01-01T00:00:00Z').getHours(self) >= 0",message="the API server knows no time zone of this name",optionalOldSelf=true
	Timezone string `json:"timezone,omitempty"`
	// timeOfDay is when a Daily to Yearly window begins, as HH:MM; default 00:00.
	// +optional
	// +kubebuilder:validation:MaxLength=5
	// +kubebuilder:validation:Pattern=`^([01][0-9]|2[0-3]):[0-5][0-9]$`
	TimeOfDay string `json:"timeOfDay,omitempty"`
	// weekStart is the first day of a Weekly window; default Monday.
	// +optional
	// +kubebuilder:validation:Enum=Monday;Tuesday;Wednesday;Thursday;Friday;Saturday;Sunday
	WeekStart string `json:"weekStart,omitempty"`
	// dayOfMonth is the day on which a Monthly to Yearly window begins;
	// default 1, and 31 is the last day of every month.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=31
	DayOfMonth *int32 `json:"dayOfMonth,omitempty"`
	// startMonth is the month in which a Yearly window, or the first
	// Quarterly one, begins; default 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=12
	StartMonth *int32 `json:"startMonth,omitempty"`
	// anchor is the instant from which a Cycle or Fixed period counts, in whole
	// seconds.
	// +optional
	Anchor *metav1.Time `json:"anchor,omitempty"`
	// unit is what a Cycle counts in.
	// +optional
	// +kubebuilder:validation:Enum=Day;Week;Month;Year
	Unit string `json:"unit,omitempty"`
	// every is how many units a Cycle lasts; default 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Every *int32 `json:"every,omitempty"`
	// duration is the length of a Fixed, FirstUse or Sliding window: a whole
	// number of s, m, h, d or w, such as 90m, 5h or 30d.
	// +optional
	// +kubebuilder:validation:MaxLength=10
	// +kubebuilder:validation:Pattern=`^[1-9][0-9]{0,8}(s|m|h|d|w)$`
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[0-9]{1,9}[smhdw]$') || int(self.substring(0, size(self) - 1)) * (self.endsWith('w') ? 604800 : self.endsWith('d') ? 86400 : self.endsWith('h') ? 3600 : self.endsWith('m') ? 60 : 1) >= 60",message="must be at least 60s"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[0-9]{1,9}[smhdw]$') || int(self.substring(0, size(self) - 1)) * (self.endsWith('w') ? 604800 : self.endsWith('d') ? 86400 : self.endsWith('h') ? 3600 : self.endsWith('m') ? 60 : 1) <= 316224000",message="must be at most 3660d"
	Duration string `json:"duration,omitempty"`
	// startsAt is when a Lifetime begins; always, if absent.
	// +optional
	StartsAt *metav1.Time `json:"startsAt,omitempty"`
	// endsAt is when a Lifetime ends; never, if absent.
	// +optional
	EndsAt *metav1.Time `json:"endsAt,omitempty"`
}
