"""The laboratory: no chapter needs it to be read.

train loop                            the steps of a training; what surrounds them
resume distributed schedules          runs that go on after a break, several processes, learning rates
configuration checkpoints pretrained  models and weights as files, the book's own and published ones
run settings record                   a recipe becomes a record, with the settings of its trainings
tables layout differences             records become the book's tables; what differs between their rows
recipes/ recorded/ trained/           how each model was made, the record of each run, the weights the book shows
flops baselines word_shapes           counting products; models to beat; words never seen before
"""
