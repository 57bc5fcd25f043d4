// Package controller .
package controller
