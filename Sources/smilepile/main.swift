import Commands
import Foundation

exit(await Program().run(Program.arguments).rawValue)
