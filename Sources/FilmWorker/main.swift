import FilmConversion
import Glibc

exit(FilmWorker.run())
