// SPDX-License-Identifier: Apache-2.0
import Testing

/// Tests of the service, one after the other: each has buses, a desktop and a service of its own, and the system has not too
/// many watches of files for one user.
@Suite(.serialized, .enabled(if: Desk.python != nil, "dbusmock is not installed"), .timeLimit(.minutes(5)))
struct BackgroundService {}
