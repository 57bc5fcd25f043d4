package controller

