# Names the Go files that are too long, generated ones excepted; fails when there are any. Variable: max.
FNR == 1 { judge(); file = FILENAME; generated = 0 }
/^\/\/ Code generated .* DO NOT EDIT\.$/ { generated = 1 }
{ lines = FNR }
END { judge(); exit bad }

function judge() {
	if (file != "" && !generated && lines > max) {
		print file ": " lines " lines, the limit is " max ": split it by subject"
		bad = 1
	}
}
