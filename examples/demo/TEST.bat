@echo off
rem Runs the tests, as TEST.sh does on other systems. No model is needed to see whether they pass, so this costs nothing.
node --test --test-reporter=tap > test-output.txt 2>&1
set failed=%errorlevel%
findstr /b /c:"# pass " /c:"# fail " test-output.txt 1>&2
if %failed%==0 (
  echo ^<function return="DECIDE.md"^>REVIEW.md^</function^>
) else (
  echo ^<goto^>FIX.md^</goto^>
)
