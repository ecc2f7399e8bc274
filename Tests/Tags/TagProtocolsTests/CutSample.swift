// SPDX-License-Identifier: Apache-2.0

/// Which of so many steps to cut or disturb: all of up to 24, else the first 8, the last 8 and every 17th between them.
///
/// The steps in the middle of a long write or read are alike, so one in seventeen stands for its neighbours.
func cutSample(of count: Int) -> [Int] {
    (0..<max(0, count)).filter { count <= 24 || $0 < 8 || $0 >= count - 8 || $0 % 17 == 0 }
}
