// SPDX-License-Identifier: Apache-2.0
import Glibc
import SimulatorDriver
import TestThreads
import Testing

@Suite(.timeLimit(.minutes(5))) struct `The socket of a user's simulator` {
    @Test(
        .ownThreads,
        arguments: [
            ("/run/user/1", "/run/user/1/opencorenfc/simulator.sock"), ("/", "//opencorenfc/simulator.sock"),
        ]
    )
    func `is in the folder that the environment names`(folder: String, path: String) async {
        await #expect(processExitsWith: .success) { [folder, path] in
            _ = unsafe setenv("XDG_RUNTIME_DIR", folder, 1)
            exit(SimulatorPlace.ofUser == path ? 0 : 1)
        }
    }

    /// A user's number, and whether a test may be that user.
    private static let canChangeUser = geteuid() == 0

    @Test(.ownThreads, arguments: ["", "run/", "run", nil] as [String?])
    func `is in a folder of the user's own elsewhere, when it names none`(folder: String?) async {
        await #expect(processExitsWith: .success) { [folder] in
            _ = unsafe folder.map { unsafe setenv("XDG_RUNTIME_DIR", $0, 1) } ?? unsetenv("XDG_RUNTIME_DIR")
            // Root can be a user who has no folder.
            if geteuid() == 0, setuid(4_242_424) != 0 { exit(2) }
            let hasFolder = unsafe access("/run/user/\(geteuid())", W_OK) == 0
            let start = hasFolder ? "/run/user/\(geteuid())/opencorenfc" : "/tmp/opencorenfc-\(geteuid())"
            exit(SimulatorPlace.ofUser == start + "/simulator.sock" ? 0 : 1)
        }
    }

    @Test(.ownThreads, .enabled(if: canChangeUser, "Only root can make a folder for another user."))
    func `is in the folder that a login makes, if the user can write there`() async {
        let user = UInt32(4_300_000 + getpid())
        let folder = "/run/user/\(user)"
        guard unsafe mkdir(folder, 0o700) == 0 else { return #expect(errno == ENOENT || errno == EROFS) }
        defer { _ = unsafe rmdir(folder) }
        for isUsed in [true, false] {
            let owner: UInt32 = isUsed ? user : 0
            #expect(unsafe chown(folder, owner, owner) == 0)
            await #expect(processExitsWith: .success) { [user = user as UInt32, isUsed = isUsed as Bool] in
                _ = unsafe unsetenv("XDG_RUNTIME_DIR")
                guard setuid(user) == 0 else { exit(2) }
                let start = isUsed ? "/run/user/\(user)/opencorenfc" : "/tmp/opencorenfc-\(user)"
                exit(SimulatorPlace.ofUser == start + "/simulator.sock" ? 0 : 1)
            }
        }
    }
}
