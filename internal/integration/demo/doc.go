// Package demo lets a day of examples/taskcontroller pass in half a minute on a real API server, and prints what kubectl would
// show: `make demo-cluster`.
package demo
