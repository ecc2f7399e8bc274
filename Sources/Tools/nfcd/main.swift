// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc

signal(SIGPIPE, SIG_IGN)
guard let options = Options(Array(CommandLine.arguments.dropFirst())) else { exit(2) }
let log = Log(options)
do {
    let service = try Service(options, log)
    try service.start()
    dispatchMain()
} catch {
    let failure = error as? Service.Failure ?? Service.Failure(name: "service", reason: "\(error)")
    log.fail(failure.name, failure.reason)
    exit(failure.status)
}
