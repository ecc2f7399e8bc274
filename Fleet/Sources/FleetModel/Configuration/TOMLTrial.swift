// SPDX-License-Identifier: Apache-2.0
import Foundation
import TOMLKit

/// Parses a TOML document in a child process first, because some invalid documents make the parser crash.
package enum TOMLTrial {
    private static let argument = "--try-toml"
    /// Smaller than the stack of any thread that parses the document later.
    private static let stackSize = 256 << 10

    /// Does the child's work if this process is the child. Call this first in the program.
    package static func runIfChild() {
        guard CommandLine.arguments.dropFirst().elementsEqual([argument]) else { return }
        let thread = Thread {
            let text = String(decoding: FileHandle.standardInput.readDataToEndOfFile(), as: UTF8.self)
            _ = try? ConfigurationTable(toml: text)
            exit(0)
        }
        thread.stackSize = stackSize
        thread.start()
        sleep(10)
        exit(1)
    }

    /// Checks that parsing the document does not crash. Other errors are left to the parser.
    ///
    /// - Throws: ``ConfigurationError`` if parsing crashes.
    package static func check(_ bytes: [UInt8]) throws(ConfigurationError) {
        let child = Process()
        child.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        child.arguments = [argument]
        let input = Pipe()
        child.standardInput = input
        child.standardOutput = FileHandle.nullDevice
        child.standardError = FileHandle.nullDevice
        do {
            try child.run()
            // The child may exit before reading everything. The programs ignore the resulting SIGPIPE.
            try? input.fileHandleForWriting.write(contentsOf: Data(bytes))
            try? input.fileHandleForWriting.close()
        } catch {
            throw ConfigurationError("The process that checks the configuration can't be started: \(error)")
        }
        child.waitUntilExit()
        guard child.terminationReason == .exit, child.terminationStatus == 0 else {
            throw ConfigurationError(
                "This is not a TOML document, or its tables are nested too deeply. Check its brackets."
            )
        }
    }
}
