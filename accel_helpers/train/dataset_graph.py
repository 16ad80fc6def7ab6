"""A ``tf.data`` pipeline with its calls of ``map`` in parallel, made from its graph."""

# what a map is called in a graph of TensorFlow, one call after the other and several at a time
ONE_BY_ONE = "MapDataset"
IN_PARALLEL = "ParallelMapDatasetV2"
NUMBER_OF_CALLS = "accel_helpers/num_parallel_calls"


def maps_one_by_one(dataset) -> int:
    """Return how many maps of a dataset work on one element at a time."""
    return sum(node.op == ONE_BY_ONE for node in _graph_of(dataset).node)


def in_parallel(dataset):
    """Return a dataset whose maps all have ``num_parallel_calls=tf.data.AUTOTUNE``.

    The functions in it are the same, and so is the order of the elements. Raises TensorFlow's error
    where the graph of the dataset cannot be written down, as with more than 2 GB of arrays in it.
    """
    import tensorflow as tf

    graph = _graph_of(dataset)
    number = graph.node.add()
    number.name = NUMBER_OF_CALLS
    number.op = "Const"
    number.attr["dtype"].type = tf.int64.as_datatype_enum
    value = tf.make_tensor_proto(tf.data.AUTOTUNE, tf.int64)
    number.attr["value"].tensor.CopyFrom(value)
    for node in graph.node:
        if node.op == ONE_BY_ONE:
            node.op = IN_PARALLEL
            node.input.append(NUMBER_OF_CALLS)
            node.attr["deterministic"].s = b"default"
            # this one is no setting of the parallel map
            node.attr.pop("force_synchronous", None)
    variant = tf.raw_ops.DatasetFromGraph(graph_def=graph.SerializeToString())
    made = tf.data.experimental.from_variant(variant, dataset.element_spec)
    # a graph does not say how many elements there are
    return made.apply(tf.data.experimental.assert_cardinality(dataset.cardinality()))


def _graph_of(dataset):
    """Return the graph of a dataset, as TensorFlow's protocol buffer."""
    import tensorflow as tf

    # 1: what has a state, such as a map with random numbers, begins anew
    text = tf.raw_ops.DatasetToGraphV2(
        input_dataset=tf.data.experimental.to_variant(dataset), external_state_policy=1
    )
    return tf.compat.v1.GraphDef.FromString(text.numpy())
