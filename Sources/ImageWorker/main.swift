import Glibc
import Imaging

exit(ImageWorker.run())
