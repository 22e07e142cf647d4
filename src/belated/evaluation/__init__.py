"""What other policies would have earned: evaluation on logs with late and missing outcomes.

`evaluate` is what users call; modules further down import only those above them.

- `logs`: logs of decisions of every kind, read into one record

Estimates:
- `delay_laws`: how late outcomes come, by Kaplan-Meier and by the right-truncated product limit
- `silence`: what silence means, and the correction that follows
- `estimators`: a formula for each
- `tuning`: their parameters, if the user gives none
- `encoding`, `models`: contexts as numbers, and rewards predicted from them
- `policies`, `policy_texts`: the probabilities of a policy in each row, and policies as text
- `intervals`, `betting`, `bootstrap`: confidence intervals
- `conversions`: how many decisions convert, and how late (Chapelle's model)
- `uplift`: what a treated cohort earns more than its control, valid at every look
- `rejection`: learners that learn along a log
- `result`: what was found, as table and as JSON
- `parts`: values by stratum or by time
- `measuring`: all estimates of all policies
- `notes`: what must be said beside the numbers
- `evaluate`: the whole of it

The page:
- `value_figures`, `log_figures`: the six figures, three in each
- `page`: the HTML report
- `uplift_page`: the page of an uplift, which is made by the service
"""
