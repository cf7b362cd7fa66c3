import Glibc
import PhotoConversion

exit(ImageWorker.run())
