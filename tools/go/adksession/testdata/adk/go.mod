module google.golang.org/adk/v2

go 1.26

require google.golang.org/genai v1.66.0
