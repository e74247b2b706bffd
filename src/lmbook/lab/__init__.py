"""The laboratory: no chapter needs it to be read.

train resume distributed schedules    the loop, and around it: runs that go on after a break, several processes
configuration checkpoints pretrained  models and weights as files, the book's own and published ones
run record tables                     a recipe becomes a record, records become the book's tables
recipes/ recorded/ trained/           how each model was made, the record of each run, the weights the book shows
flops baselines word_shapes           counting products; models to beat; words never seen before
"""
