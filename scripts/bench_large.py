"""Up to a million points, easy and hard: time and memory of the command line, neighbors and clusters compared with the peers, few points, points on
disk, interrupted runs, partitions; writes its sections of docs/PERFORMANCE.md. Each section is a file of scripts/large/.

    make bench-large                        everything
    make bench-large SECTIONS="growth"      only some; the others keep their last figures
    make bench-large SECTIONS=hard BASELINE=path/to/older/taugraph
                                            hard sets beside an older program in the same run
    make bench-large QUICK=1                tiny sizes, to try the script; the page goes to bench-data/quick/

The images are those of the folder mnist/ in TAUGRAPH_DATA. What needs them is omitted without it.
"""

import sys

import performance_page
from large.disk import disk
from large.embeddings import embeddings
from large.growth import growth
from large.hard import hard
from large.images import mnist
from large.links import links
from large.many_columns import many_columns
from large.neighbors import neighbors
from large.partitions import partitions
from large.resume import resume
from large.small import small

SECTIONS = {
    "growth": growth,
    "hard": hard,
    "neighbors": neighbors,
    "columns": many_columns,
    "mnist": mnist,
    "embeddings": embeddings,
    "links": links,
    "small": small,
    "disk": disk,
    "resume": resume,
    "partitions": partitions,
}


if __name__ == "__main__":
    performance_page.measure(SECTIONS, sys.argv[1:])
