// SPDX-License-Identifier: Apache-2.0
import Foundation
import LinuxSupport
import PCSCDriver
package import ReaderEmulation
import TestThreads
package import VirtualTags

/// Emulated readers in a pcscd of their own, each with a field in front of it.
///
/// Use it in a process of its own, such as that of an exit test, because it sets the variable that selects pcscd.
package struct PrivateReaders {
    /// A reader of pcscd.
    package struct Reader: Sendable {
        /// What it is.
        package let profile: ReaderProfile
        /// What is in front of it.
        package let field: VirtualField
        fileprivate let server: ReaderServer
    }

    /// Whether there is a pcscd to start, and whether it can load the driver. One that was built for a sanitizer can't be
    /// loaded, because the sanitizer's runtime is not in pcscd.
    package static var canStart: Bool {
        let isSanitized = unsafe dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil
        return !isSanitized
            && ["/usr/sbin/pcscd", "/usr/local/sbin/pcscd", "/usr/bin/pcscd"].contains {
                FileManager.default.isExecutableFile(atPath: $0)
            }
    }

    /// The readers, in pcscd's order.
    package let readers: [Reader]
    private let daemon: PrivatePCSCD

    /// Starts pcscd, and waits until it has the readers.
    ///
    /// - Parameters:
    ///   - profiles: the readers.
    ///   - folder: an empty folder for sockets and settings, with a short path.
    package init(_ profiles: [ReaderProfile], folder: String) throws {
        let configuration = folder + "/conf"
        try FileManager.default.createDirectory(atPath: configuration, withIntermediateDirectories: true)
        let driver = try PCSCInstallation.findDriver()
        let sockets = try PrivateFolder(folder)
        var readers: [Reader] = []
        // In one file, because pcscd takes files in any order.
        var lines = ""
        for (index, profile) in profiles.enumerated() {
            let socket = folder + "/reader\(index).sock"
            let field = VirtualField()
            let installation = try PCSCInstallation(readerName: profile.name, socketPath: socket, driverPath: driver)
            lines += installation.configuration.replacing("CHANNELID    1", with: "CHANNELID    \(index + 1)")
            let server = try ReaderServer("reader\(index).sock", in: sockets, profile: profile, field: field)
            _ = server.start()
            readers.append(Reader(profile: profile, field: field, server: server))
        }
        try lines.write(toFile: configuration + "/readers", atomically: true, encoding: .utf8)
        self.readers = readers
        daemon = try PrivatePCSCD(folder: sockets, configuration: configuration)
        unsafe setenv("PCSCLITE_CSOCK_NAME", daemon.socketPath, 1)
        waitWhile((try? PCSCReader.findContactless()) == nil)
    }

    /// Ends pcscd and the readers.
    package func stop() {
        for reader in readers { reader.server.stop() }
        daemon.stop()
    }
}
