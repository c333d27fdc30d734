# More arms than blocks of Code may nest, in each of the places where an `if` can stand. The chain is made by the
# test of limits; this one is long enough to be emitted in pieces.
fn value(k, x) = if (k == 0) { x * 0 } else if (k == 1) { x * 1 } else if (k == 2) { x * 2 }
 else if (k == 3) { x * 3 } else if (k == 4) { x * 4 } else if (k == 5) { x * 5 }
 else if (k == 6) { x * 6 } else if (k == 7) { x * 7 } else if (k == 8) { x * 8 }
 else if (k == 9) { x * 9 } else if (k == 10) { x * 10 } else if (k == 11) { x * 11 }
 else if (k == 12) { x * 12 } else if (k == 13) { x * 13 } else if (k == 14) { x * 14 }
 else if (k == 15) { x * 15 } else if (k == 16) { x * 16 } else if (k == 17) { x * 17 }
 else if (k == 18) { x * 18 } else if (k == 19) { x * 19 } else if (k == 20) { x * 20 }
 else if (k == 21) { x * 21 } else if (k == 22) { x * 22 } else if (k == 23) { x * 23 }
 else if (k == 24) { x * 24 } else if (k == 25) { x * 25 } else if (k == 26) { x * 26 }
 else if (k == 27) { x * 27 } else if (k == 28) { x * 28 } else if (k == 29) { x * 29 }
 else if (k == 30) { x * 30 } else if (k == 31) { x * 31 } else if (k == 32) { x * 32 }
 else if (k == 33) { x * 33 } else if (k == 34) { x * 34 } else if (k == 35) { x * 35 }
 else if (k == 36) { x * 36 } else if (k == 37) { x * 37 } else if (k == 38) { x * 38 }
 else if (k == 39) { x * 39 } else if (k == 40) { x * 40 } else if (k == 41) { x * 41 }
 else if (k == 42) { x * 42 } else if (k == 43) { x * 43 } else if (k == 44) { x * 44 }
 else if (k == 45) { x * 45 } else if (k == 46) { x * 46 } else if (k == 47) { x * 47 }
 else if (k == 48) { x * 48 } else if (k == 49) { x * 49 } else if (k == 50) { x * 50 }
 else if (k == 51) { x * 51 } else if (k == 52) { x * 52 } else if (k == 53) { x * 53 }
 else if (k == 54) { x * 54 } else if (k == 55) { x * 55 } else if (k == 56) { x * 56 }
 else if (k == 57) { x * 57 } else if (k == 58) { x * 58 } else if (k == 59) { x * 59 }
 else if (k == 60) { x * 60 } else if (k == 61) { x * 61 } else if (k == 62) { x * 62 }
 else if (k == 63) { x * 63 } else if (k == 64) { x * 64 } else if (k == 65) { x * 65 }
 else if (k == 66) { x * 66 } else if (k == 67) { x * 67 } else if (k == 68) { x * 68 }
 else if (k == 69) { x * 69 } else if (k == 70) { x * 70 } else if (k == 71) { x * 71 }
 else if (k == 72) { x * 72 } else if (k == 73) { x * 73 } else if (k == 74) { x * 74 }
 else if (k == 75) { x * 75 } else if (k == 76) { x * 76 } else if (k == 77) { x * 77 }
 else if (k == 78) { x * 78 } else if (k == 79) { x * 79 } else if (k == 80) { x * 80 }
 else if (k == 81) { x * 81 } else if (k == 82) { x * 82 } else if (k == 83) { x * 83 }
 else if (k == 84) { x * 84 } else if (k == 85) { x * 85 } else if (k == 86) { x * 86 }
 else if (k == 87) { x * 87 } else if (k == 88) { x * 88 } else if (k == 89) { x * 89 }
 else if (k == 90) { x * 90 } else if (k == 91) { x * 91 } else if (k == 92) { x * 92 }
 else if (k == 93) { x * 93 } else if (k == 94) { x * 94 } else if (k == 95) { x * 95 }
 else if (k == 96) { x * 96 } else if (k == 97) { x * 97 } else if (k == 98) { x * 98 }
 else if (k == 99) { x * 99 } else if (k == 100) { x * 100 } else if (k == 101) { x * 101 }
 else if (k == 102) { x * 102 } else if (k == 103) { x * 103 } else if (k == 104) { x * 104 }
 else if (k == 105) { x * 105 } else if (k == 106) { x * 106 } else if (k == 107) { x * 107 }
 else if (k == 108) { x * 108 } else if (k == 109) { x * 109 } else if (k == 110) { x * 110 }
 else if (k == 111) { x * 111 } else if (k == 112) { x * 112 } else if (k == 113) { x * 113 }
 else if (k == 114) { x * 114 } else if (k == 115) { x * 115 } else if (k == 116) { x * 116 }
 else if (k == 117) { x * 117 } else if (k == 118) { x * 118 } else if (k == 119) { x * 119 }
 else if (k == 120) { x * 120 } else if (k == 121) { x * 121 } else if (k == 122) { x * 122 }
 else if (k == 123) { x * 123 } else if (k == 124) { x * 124 } else if (k == 125) { x * 125 }
 else if (k == 126) { x * 126 } else if (k == 127) { x * 127 } else if (k == 128) { x * 128 }
 else if (k == 129) { x * 129 } else if (k == 130) { x * 130 } else if (k == 131) { x * 131 }
 else if (k == 132) { x * 132 } else if (k == 133) { x * 133 } else if (k == 134) { x * 134 }
 else if (k == 135) { x * 135 } else if (k == 136) { x * 136 } else if (k == 137) { x * 137 }
 else if (k == 138) { x * 138 } else if (k == 139) { x * 139 } else if (k == 140) { x * 140 }
 else if (k == 141) { x * 141 } else if (k == 142) { x * 142 } else if (k == 143) { x * 143 }
 else if (k == 144) { x * 144 } else if (k == 145) { x * 145 } else if (k == 146) { x * 146 }
 else if (k == 147) { x * 147 } else if (k == 148) { x * 148 } else if (k == 149) { x * 149 }
 else if (k == 150) { x * 150 } else if (k == 151) { x * 151 } else if (k == 152) { x * 152 }
 else if (k == 153) { x * 153 } else if (k == 154) { x * 154 } else if (k == 155) { x * 155 }
 else if (k == 156) { x * 156 } else if (k == 157) { x * 157 } else if (k == 158) { x * 158 }
 else if (k == 159) { x * 159 } else if (k == 160) { x * 160 } else if (k == 161) { x * 161 }
 else if (k == 162) { x * 162 } else if (k == 163) { x * 163 } else if (k == 164) { x * 164 }
 else if (k == 165) { x * 165 } else if (k == 166) { x * 166 } else if (k == 167) { x * 167 }
 else if (k == 168) { x * 168 } else if (k == 169) { x * 169 } else if (k == 170) { x * 170 }
 else if (k == 171) { x * 171 } else if (k == 172) { x * 172 } else if (k == 173) { x * 173 }
 else if (k == 174) { x * 174 } else if (k == 175) { x * 175 } else if (k == 176) { x * 176 }
 else if (k == 177) { x * 177 } else if (k == 178) { x * 178 } else if (k == 179) { x * 179 }
 else if (k == 180) { x * 180 } else if (k == 181) { x * 181 } else if (k == 182) { x * 182 }
 else if (k == 183) { x * 183 } else if (k == 184) { x * 184 } else if (k == 185) { x * 185 }
 else if (k == 186) { x * 186 } else if (k == 187) { x * 187 } else if (k == 188) { x * 188 }
 else if (k == 189) { x * 189 } else if (k == 190) { x * 190 } else if (k == 191) { x * 191 }
 else if (k == 192) { x * 192 } else if (k == 193) { x * 193 } else if (k == 194) { x * 194 }
 else if (k == 195) { x * 195 } else if (k == 196) { x * 196 } else if (k == 197) { x * 197 }
 else if (k == 198) { x * 198 } else if (k == 199) { x * 199 } else if (k == 200) { x * 200 }
 else if (k == 201) { x * 201 } else if (k == 202) { x * 202 } else if (k == 203) { x * 203 }
 else if (k == 204) { x * 204 } else if (k == 205) { x * 205 } else if (k == 206) { x * 206 }
 else if (k == 207) { x * 207 } else if (k == 208) { x * 208 } else if (k == 209) { x * 209 }
 else if (k == 210) { x * 210 } else if (k == 211) { x * 211 } else if (k == 212) { x * 212 }
 else if (k == 213) { x * 213 } else if (k == 214) { x * 214 } else if (k == 215) { x * 215 }
 else if (k == 216) { x * 216 } else if (k == 217) { x * 217 } else if (k == 218) { x * 218 }
 else if (k == 219) { x * 219 } else if (k == 220) { x * 220 } else if (k == 221) { x * 221 }
 else if (k == 222) { x * 222 } else if (k == 223) { x * 223 } else if (k == 224) { x * 224 }
 else if (k == 225) { x * 225 } else if (k == 226) { x * 226 } else if (k == 227) { x * 227 }
 else if (k == 228) { x * 228 } else if (k == 229) { x * 229 } else if (k == 230) { x * 230 }
 else if (k == 231) { x * 231 } else if (k == 232) { x * 232 } else if (k == 233) { x * 233 }
 else if (k == 234) { x * 234 } else if (k == 235) { x * 235 } else if (k == 236) { x * 236 }
 else if (k == 237) { x * 237 } else if (k == 238) { x * 238 } else if (k == 239) { x * 239 }
 else if (k == 240) { x * 240 } else if (k == 241) { x * 241 } else if (k == 242) { x * 242 }
 else if (k == 243) { x * 243 } else if (k == 244) { x * 244 } else if (k == 245) { x * 245 }
 else if (k == 246) { x * 246 } else if (k == 247) { x * 247 } else if (k == 248) { x * 248 }
 else if (k == 249) { x * 249 } else { -x }
fn assigns(k, x) {
  y = 1
if (k == 0) { z = x; y = x * 0 } else if (k == 1) { y = x * 1 } else if (k == 2) { y = x * 2 }
 else if (k == 3) { y = x * 3 } else if (k == 4) { y = x * 4 } else if (k == 5) { y = x * 5 }
 else if (k == 6) { y = x * 6 } else if (k == 7) { z = x; y = x * 7 } else if (k == 8) { y = x * 8 }
 else if (k == 9) { y = x * 9 } else if (k == 10) { y = x * 10 } else if (k == 11) { y = x * 11 }
 else if (k == 12) { y = x * 12 } else if (k == 13) { y = x * 13 } else if (k == 14) { z = x; y = x * 14 }
 else if (k == 15) { y = x * 15 } else if (k == 16) { y = x * 16 } else if (k == 17) { y = x * 17 }
 else if (k == 18) { y = x * 18 } else if (k == 19) { y = x * 19 } else if (k == 20) { y = x * 20 }
 else if (k == 21) { z = x; y = x * 21 } else if (k == 22) { y = x * 22 } else if (k == 23) { y = x * 23 }
 else if (k == 24) { y = x * 24 } else if (k == 25) { y = x * 25 } else if (k == 26) { y = x * 26 }
 else if (k == 27) { y = x * 27 } else if (k == 28) { z = x; y = x * 28 } else if (k == 29) { y = x * 29 }
 else if (k == 30) { y = x * 30 } else if (k == 31) { y = x * 31 } else if (k == 32) { y = x * 32 }
 else if (k == 33) { y = x * 33 } else if (k == 34) { y = x * 34 } else if (k == 35) { z = x; y = x * 35 }
 else if (k == 36) { y = x * 36 } else if (k == 37) { y = x * 37 } else if (k == 38) { y = x * 38 }
 else if (k == 39) { y = x * 39 } else if (k == 40) { y = x * 40 } else if (k == 41) { y = x * 41 }
 else if (k == 42) { z = x; y = x * 42 } else if (k == 43) { y = x * 43 } else if (k == 44) { y = x * 44 }
 else if (k == 45) { y = x * 45 } else if (k == 46) { y = x * 46 } else if (k == 47) { y = x * 47 }
 else if (k == 48) { y = x * 48 } else if (k == 49) { z = x; y = x * 49 } else if (k == 50) { y = x * 50 }
 else if (k == 51) { y = x * 51 } else if (k == 52) { y = x * 52 } else if (k == 53) { y = x * 53 }
 else if (k == 54) { y = x * 54 } else if (k == 55) { y = x * 55 } else if (k == 56) { z = x; y = x * 56 }
 else if (k == 57) { y = x * 57 } else if (k == 58) { y = x * 58 } else if (k == 59) { y = x * 59 }
 else if (k == 60) { y = x * 60 } else if (k == 61) { y = x * 61 } else if (k == 62) { y = x * 62 }
 else if (k == 63) { z = x; y = x * 63 } else if (k == 64) { y = x * 64 } else if (k == 65) { y = x * 65 }
 else if (k == 66) { y = x * 66 } else if (k == 67) { y = x * 67 } else if (k == 68) { y = x * 68 }
 else if (k == 69) { y = x * 69 } else if (k == 70) { z = x; y = x * 70 } else if (k == 71) { y = x * 71 }
 else if (k == 72) { y = x * 72 } else if (k == 73) { y = x * 73 } else if (k == 74) { y = x * 74 }
 else if (k == 75) { y = x * 75 } else if (k == 76) { y = x * 76 } else if (k == 77) { z = x; y = x * 77 }
 else if (k == 78) { y = x * 78 } else if (k == 79) { y = x * 79 } else if (k == 80) { y = x * 80 }
 else if (k == 81) { y = x * 81 } else if (k == 82) { y = x * 82 } else if (k == 83) { y = x * 83 }
 else if (k == 84) { z = x; y = x * 84 } else if (k == 85) { y = x * 85 } else if (k == 86) { y = x * 86 }
 else if (k == 87) { y = x * 87 } else if (k == 88) { y = x * 88 } else if (k == 89) { y = x * 89 }
 else if (k == 90) { y = x * 90 } else if (k == 91) { z = x; y = x * 91 } else if (k == 92) { y = x * 92 }
 else if (k == 93) { y = x * 93 } else if (k == 94) { y = x * 94 } else if (k == 95) { y = x * 95 }
 else if (k == 96) { y = x * 96 } else if (k == 97) { y = x * 97 } else if (k == 98) { z = x; y = x * 98 }
 else if (k == 99) { y = x * 99 } else if (k == 100) { y = x * 100 } else if (k == 101) { y = x * 101 }
 else if (k == 102) { y = x * 102 } else if (k == 103) { y = x * 103 } else if (k == 104) { y = x * 104 }
 else if (k == 105) { z = x; y = x * 105 } else if (k == 106) { y = x * 106 } else if (k == 107) { y = x * 107 }
 else if (k == 108) { y = x * 108 } else if (k == 109) { y = x * 109 } else if (k == 110) { y = x * 110 }
 else if (k == 111) { y = x * 111 } else if (k == 112) { z = x; y = x * 112 } else if (k == 113) { y = x * 113 }
 else if (k == 114) { y = x * 114 } else if (k == 115) { y = x * 115 } else if (k == 116) { y = x * 116 }
 else if (k == 117) { y = x * 117 } else if (k == 118) { y = x * 118 } else if (k == 119) { z = x; y = x * 119 }
 else if (k == 120) { y = x * 120 } else if (k == 121) { y = x * 121 } else if (k == 122) { y = x * 122 }
 else if (k == 123) { y = x * 123 } else if (k == 124) { y = x * 124 } else if (k == 125) { y = x * 125 }
 else if (k == 126) { z = x; y = x * 126 } else if (k == 127) { y = x * 127 } else if (k == 128) { y = x * 128 }
 else if (k == 129) { y = x * 129 } else if (k == 130) { y = x * 130 } else if (k == 131) { y = x * 131 }
 else if (k == 132) { y = x * 132 } else if (k == 133) { z = x; y = x * 133 } else if (k == 134) { y = x * 134 }
 else if (k == 135) { y = x * 135 } else if (k == 136) { y = x * 136 } else if (k == 137) { y = x * 137 }
 else if (k == 138) { y = x * 138 } else if (k == 139) { y = x * 139 } else if (k == 140) { z = x; y = x * 140 }
 else if (k == 141) { y = x * 141 } else if (k == 142) { y = x * 142 } else if (k == 143) { y = x * 143 }
 else if (k == 144) { y = x * 144 } else if (k == 145) { y = x * 145 } else if (k == 146) { y = x * 146 }
 else if (k == 147) { z = x; y = x * 147 } else if (k == 148) { y = x * 148 } else if (k == 149) { y = x * 149 }
 else if (k == 150) { y = x * 150 } else if (k == 151) { y = x * 151 } else if (k == 152) { y = x * 152 }
 else if (k == 153) { y = x * 153 } else if (k == 154) { z = x; y = x * 154 } else if (k == 155) { y = x * 155 }
 else if (k == 156) { y = x * 156 } else if (k == 157) { y = x * 157 } else if (k == 158) { y = x * 158 }
 else if (k == 159) { y = x * 159 } else if (k == 160) { y = x * 160 } else if (k == 161) { z = x; y = x * 161 }
 else if (k == 162) { y = x * 162 } else if (k == 163) { y = x * 163 } else if (k == 164) { y = x * 164 }
 else if (k == 165) { y = x * 165 } else if (k == 166) { y = x * 166 } else if (k == 167) { y = x * 167 }
 else if (k == 168) { z = x; y = x * 168 } else if (k == 169) { y = x * 169 } else if (k == 170) { y = x * 170 }
 else if (k == 171) { y = x * 171 } else if (k == 172) { y = x * 172 } else if (k == 173) { y = x * 173 }
 else if (k == 174) { y = x * 174 } else if (k == 175) { z = x; y = x * 175 } else if (k == 176) { y = x * 176 }
 else if (k == 177) { y = x * 177 } else if (k == 178) { y = x * 178 } else if (k == 179) { y = x * 179 }
 else if (k == 180) { y = x * 180 } else if (k == 181) { y = x * 181 } else if (k == 182) { z = x; y = x * 182 }
 else if (k == 183) { y = x * 183 } else if (k == 184) { y = x * 184 } else if (k == 185) { y = x * 185 }
 else if (k == 186) { y = x * 186 } else if (k == 187) { y = x * 187 } else if (k == 188) { y = x * 188 }
 else if (k == 189) { z = x; y = x * 189 } else if (k == 190) { y = x * 190 } else if (k == 191) { y = x * 191 }
 else if (k == 192) { y = x * 192 } else if (k == 193) { y = x * 193 } else if (k == 194) { y = x * 194 }
 else if (k == 195) { y = x * 195 } else if (k == 196) { z = x; y = x * 196 } else if (k == 197) { y = x * 197 }
 else if (k == 198) { y = x * 198 } else if (k == 199) { y = x * 199 } else if (k == 200) { y = x * 200 }
 else if (k == 201) { y = x * 201 } else if (k == 202) { y = x * 202 } else if (k == 203) { z = x; y = x * 203 }
 else if (k == 204) { y = x * 204 } else if (k == 205) { y = x * 205 } else if (k == 206) { y = x * 206 }
 else if (k == 207) { y = x * 207 } else if (k == 208) { y = x * 208 } else if (k == 209) { y = x * 209 }
 else if (k == 210) { z = x; y = x * 210 } else if (k == 211) { y = x * 211 } else if (k == 212) { y = x * 212 }
 else if (k == 213) { y = x * 213 } else if (k == 214) { y = x * 214 } else if (k == 215) { y = x * 215 }
 else if (k == 216) { y = x * 216 } else if (k == 217) { z = x; y = x * 217 } else if (k == 218) { y = x * 218 }
 else if (k == 219) { y = x * 219 } else if (k == 220) { y = x * 220 } else if (k == 221) { y = x * 221 }
 else if (k == 222) { y = x * 222 } else if (k == 223) { y = x * 223 } else if (k == 224) { z = x; y = x * 224 }
 else if (k == 225) { y = x * 225 } else if (k == 226) { y = x * 226 } else if (k == 227) { y = x * 227 }
 else if (k == 228) { y = x * 228 } else if (k == 229) { y = x * 229 } else if (k == 230) { y = x * 230 }
 else if (k == 231) { z = x; y = x * 231 } else if (k == 232) { y = x * 232 } else if (k == 233) { y = x * 233 }
 else if (k == 234) { y = x * 234 } else if (k == 235) { y = x * 235 } else if (k == 236) { y = x * 236 }
 else if (k == 237) { y = x * 237 } else if (k == 238) { z = x; y = x * 238 } else if (k == 239) { y = x * 239 }
 else if (k == 240) { y = x * 240 } else if (k == 241) { y = x * 241 } else if (k == 242) { y = x * 242 }
 else if (k == 243) { y = x * 243 } else if (k == 244) { y = x * 244 } else if (k == 245) { z = x; y = x * 245 }
 else if (k == 246) { y = x * 246 } else if (k == 247) { y = x * 247 } else if (k == 248) { y = x * 248 }
 else if (k == 249) { y = x * 249 }
  y
}
fn leaves(k, x) {
if (k == 0) { return x * 0 } else if (k == 1) { return x * 1 } else if (k == 2) { return x * 2 }
 else if (k == 3) { return x * 3 } else if (k == 4) { return x * 4 } else if (k == 5) { return x * 5 }
 else if (k == 6) { return x * 6 } else if (k == 7) { return x * 7 } else if (k == 8) { return x * 8 }
 else if (k == 9) { return x * 9 } else if (k == 10) { return x * 10 } else if (k == 11) { return x * 11 }
 else if (k == 12) { return x * 12 } else if (k == 13) { return x * 13 } else if (k == 14) { return x * 14 }
 else if (k == 15) { return x * 15 } else if (k == 16) { return x * 16 } else if (k == 17) { return x * 17 }
 else if (k == 18) { return x * 18 } else if (k == 19) { return x * 19 } else if (k == 20) { return x * 20 }
 else if (k == 21) { return x * 21 } else if (k == 22) { return x * 22 } else if (k == 23) { return x * 23 }
 else if (k == 24) { return x * 24 } else if (k == 25) { return x * 25 } else if (k == 26) { return x * 26 }
 else if (k == 27) { return x * 27 } else if (k == 28) { return x * 28 } else if (k == 29) { return x * 29 }
 else if (k == 30) { return x * 30 } else if (k == 31) { return x * 31 } else if (k == 32) { return x * 32 }
 else if (k == 33) { return x * 33 } else if (k == 34) { return x * 34 } else if (k == 35) { return x * 35 }
 else if (k == 36) { return x * 36 } else if (k == 37) { return x * 37 } else if (k == 38) { return x * 38 }
 else if (k == 39) { return x * 39 } else if (k == 40) { return x * 40 } else if (k == 41) { return x * 41 }
 else if (k == 42) { return x * 42 } else if (k == 43) { return x * 43 } else if (k == 44) { return x * 44 }
 else if (k == 45) { return x * 45 } else if (k == 46) { return x * 46 } else if (k == 47) { return x * 47 }
 else if (k == 48) { return x * 48 } else if (k == 49) { return x * 49 } else if (k == 50) { return x * 50 }
 else if (k == 51) { return x * 51 } else if (k == 52) { return x * 52 } else if (k == 53) { return x * 53 }
 else if (k == 54) { return x * 54 } else if (k == 55) { return x * 55 } else if (k == 56) { return x * 56 }
 else if (k == 57) { return x * 57 } else if (k == 58) { return x * 58 } else if (k == 59) { return x * 59 }
 else if (k == 60) { return x * 60 } else if (k == 61) { return x * 61 } else if (k == 62) { return x * 62 }
 else if (k == 63) { return x * 63 } else if (k == 64) { return x * 64 } else if (k == 65) { return x * 65 }
 else if (k == 66) { return x * 66 } else if (k == 67) { return x * 67 } else if (k == 68) { return x * 68 }
 else if (k == 69) { return x * 69 } else if (k == 70) { return x * 70 } else if (k == 71) { return x * 71 }
 else if (k == 72) { return x * 72 } else if (k == 73) { return x * 73 } else if (k == 74) { return x * 74 }
 else if (k == 75) { return x * 75 } else if (k == 76) { return x * 76 } else if (k == 77) { return x * 77 }
 else if (k == 78) { return x * 78 } else if (k == 79) { return x * 79 } else if (k == 80) { return x * 80 }
 else if (k == 81) { return x * 81 } else if (k == 82) { return x * 82 } else if (k == 83) { return x * 83 }
 else if (k == 84) { return x * 84 } else if (k == 85) { return x * 85 } else if (k == 86) { return x * 86 }
 else if (k == 87) { return x * 87 } else if (k == 88) { return x * 88 } else if (k == 89) { return x * 89 }
 else if (k == 90) { return x * 90 } else if (k == 91) { return x * 91 } else if (k == 92) { return x * 92 }
 else if (k == 93) { return x * 93 } else if (k == 94) { return x * 94 } else if (k == 95) { return x * 95 }
 else if (k == 96) { return x * 96 } else if (k == 97) { return x * 97 } else if (k == 98) { return x * 98 }
 else if (k == 99) { return x * 99 } else if (k == 100) { return x * 100 } else if (k == 101) { return x * 101 }
 else if (k == 102) { return x * 102 } else if (k == 103) { return x * 103 } else if (k == 104) { return x * 104 }
 else if (k == 105) { return x * 105 } else if (k == 106) { return x * 106 } else if (k == 107) { return x * 107 }
 else if (k == 108) { return x * 108 } else if (k == 109) { return x * 109 } else if (k == 110) { return x * 110 }
 else if (k == 111) { return x * 111 } else if (k == 112) { return x * 112 } else if (k == 113) { return x * 113 }
 else if (k == 114) { return x * 114 } else if (k == 115) { return x * 115 } else if (k == 116) { return x * 116 }
 else if (k == 117) { return x * 117 } else if (k == 118) { return x * 118 } else if (k == 119) { return x * 119 }
 else if (k == 120) { return x * 120 } else if (k == 121) { return x * 121 } else if (k == 122) { return x * 122 }
 else if (k == 123) { return x * 123 } else if (k == 124) { return x * 124 } else if (k == 125) { return x * 125 }
 else if (k == 126) { return x * 126 } else if (k == 127) { return x * 127 } else if (k == 128) { return x * 128 }
 else if (k == 129) { return x * 129 } else if (k == 130) { return x * 130 } else if (k == 131) { return x * 131 }
 else if (k == 132) { return x * 132 } else if (k == 133) { return x * 133 } else if (k == 134) { return x * 134 }
 else if (k == 135) { return x * 135 } else if (k == 136) { return x * 136 } else if (k == 137) { return x * 137 }
 else if (k == 138) { return x * 138 } else if (k == 139) { return x * 139 } else if (k == 140) { return x * 140 }
 else if (k == 141) { return x * 141 } else if (k == 142) { return x * 142 } else if (k == 143) { return x * 143 }
 else if (k == 144) { return x * 144 } else if (k == 145) { return x * 145 } else if (k == 146) { return x * 146 }
 else if (k == 147) { return x * 147 } else if (k == 148) { return x * 148 } else if (k == 149) { return x * 149 }
 else if (k == 150) { return x * 150 } else if (k == 151) { return x * 151 } else if (k == 152) { return x * 152 }
 else if (k == 153) { return x * 153 } else if (k == 154) { return x * 154 } else if (k == 155) { return x * 155 }
 else if (k == 156) { return x * 156 } else if (k == 157) { return x * 157 } else if (k == 158) { return x * 158 }
 else if (k == 159) { return x * 159 } else if (k == 160) { return x * 160 } else if (k == 161) { return x * 161 }
 else if (k == 162) { return x * 162 } else if (k == 163) { return x * 163 } else if (k == 164) { return x * 164 }
 else if (k == 165) { return x * 165 } else if (k == 166) { return x * 166 } else if (k == 167) { return x * 167 }
 else if (k == 168) { return x * 168 } else if (k == 169) { return x * 169 } else if (k == 170) { return x * 170 }
 else if (k == 171) { return x * 171 } else if (k == 172) { return x * 172 } else if (k == 173) { return x * 173 }
 else if (k == 174) { return x * 174 } else if (k == 175) { return x * 175 } else if (k == 176) { return x * 176 }
 else if (k == 177) { return x * 177 } else if (k == 178) { return x * 178 } else if (k == 179) { return x * 179 }
 else if (k == 180) { return x * 180 } else if (k == 181) { return x * 181 } else if (k == 182) { return x * 182 }
 else if (k == 183) { return x * 183 } else if (k == 184) { return x * 184 } else if (k == 185) { return x * 185 }
 else if (k == 186) { return x * 186 } else if (k == 187) { return x * 187 } else if (k == 188) { return x * 188 }
 else if (k == 189) { return x * 189 } else if (k == 190) { return x * 190 } else if (k == 191) { return x * 191 }
 else if (k == 192) { return x * 192 } else if (k == 193) { return x * 193 } else if (k == 194) { return x * 194 }
 else if (k == 195) { return x * 195 } else if (k == 196) { return x * 196 } else if (k == 197) { return x * 197 }
 else if (k == 198) { return x * 198 } else if (k == 199) { return x * 199 } else if (k == 200) { return x * 200 }
 else if (k == 201) { return x * 201 } else if (k == 202) { return x * 202 } else if (k == 203) { return x * 203 }
 else if (k == 204) { return x * 204 } else if (k == 205) { return x * 205 } else if (k == 206) { return x * 206 }
 else if (k == 207) { return x * 207 } else if (k == 208) { return x * 208 } else if (k == 209) { return x * 209 }
 else if (k == 210) { return x * 210 } else if (k == 211) { return x * 211 } else if (k == 212) { return x * 212 }
 else if (k == 213) { return x * 213 } else if (k == 214) { return x * 214 } else if (k == 215) { return x * 215 }
 else if (k == 216) { return x * 216 } else if (k == 217) { return x * 217 } else if (k == 218) { return x * 218 }
 else if (k == 219) { return x * 219 } else if (k == 220) { return x * 220 } else if (k == 221) { return x * 221 }
 else if (k == 222) { return x * 222 } else if (k == 223) { return x * 223 } else if (k == 224) { return x * 224 }
 else if (k == 225) { return x * 225 } else if (k == 226) { return x * 226 } else if (k == 227) { return x * 227 }
 else if (k == 228) { return x * 228 } else if (k == 229) { return x * 229 } else if (k == 230) { return x * 230 }
 else if (k == 231) { return x * 231 } else if (k == 232) { return x * 232 } else if (k == 233) { return x * 233 }
 else if (k == 234) { return x * 234 } else if (k == 235) { return x * 235 } else if (k == 236) { return x * 236 }
 else if (k == 237) { return x * 237 } else if (k == 238) { return x * 238 } else if (k == 239) { return x * 239 }
 else if (k == 240) { return x * 240 } else if (k == 241) { return x * 241 } else if (k == 242) { return x * 242 }
 else if (k == 243) { return x * 243 } else if (k == 244) { return x * 244 } else if (k == 245) { return x * 245 }
 else if (k == 246) { return x * 246 } else if (k == 247) { return x * 247 } else if (k == 248) { return x * 248 }
 else if (k == 249) { return x * 249 }
  -x
}
fn last(k, x) {
if (k == 0) { x * 0 } else if (k == 1) { return x * 1 } else if (k == 2) { x * 2 }
 else if (k == 3) { return x * 3 } else if (k == 4) { x * 4 } else if (k == 5) { return x * 5 }
 else if (k == 6) { x * 6 } else if (k == 7) { return x * 7 } else if (k == 8) { x * 8 }
 else if (k == 9) { return x * 9 } else if (k == 10) { x * 10 } else if (k == 11) { return x * 11 }
 else if (k == 12) { x * 12 } else if (k == 13) { return x * 13 } else if (k == 14) { x * 14 }
 else if (k == 15) { return x * 15 } else if (k == 16) { x * 16 } else if (k == 17) { return x * 17 }
 else if (k == 18) { x * 18 } else if (k == 19) { return x * 19 } else if (k == 20) { x * 20 }
 else if (k == 21) { return x * 21 } else if (k == 22) { x * 22 } else if (k == 23) { return x * 23 }
 else if (k == 24) { x * 24 } else if (k == 25) { return x * 25 } else if (k == 26) { x * 26 }
 else if (k == 27) { return x * 27 } else if (k == 28) { x * 28 } else if (k == 29) { return x * 29 }
 else if (k == 30) { x * 30 } else if (k == 31) { return x * 31 } else if (k == 32) { x * 32 }
 else if (k == 33) { return x * 33 } else if (k == 34) { x * 34 } else if (k == 35) { return x * 35 }
 else if (k == 36) { x * 36 } else if (k == 37) { return x * 37 } else if (k == 38) { x * 38 }
 else if (k == 39) { return x * 39 } else if (k == 40) { x * 40 } else if (k == 41) { return x * 41 }
 else if (k == 42) { x * 42 } else if (k == 43) { return x * 43 } else if (k == 44) { x * 44 }
 else if (k == 45) { return x * 45 } else if (k == 46) { x * 46 } else if (k == 47) { return x * 47 }
 else if (k == 48) { x * 48 } else if (k == 49) { return x * 49 } else if (k == 50) { x * 50 }
 else if (k == 51) { return x * 51 } else if (k == 52) { x * 52 } else if (k == 53) { return x * 53 }
 else if (k == 54) { x * 54 } else if (k == 55) { return x * 55 } else if (k == 56) { x * 56 }
 else if (k == 57) { return x * 57 } else if (k == 58) { x * 58 } else if (k == 59) { return x * 59 }
 else if (k == 60) { x * 60 } else if (k == 61) { return x * 61 } else if (k == 62) { x * 62 }
 else if (k == 63) { return x * 63 } else if (k == 64) { x * 64 } else if (k == 65) { return x * 65 }
 else if (k == 66) { x * 66 } else if (k == 67) { return x * 67 } else if (k == 68) { x * 68 }
 else if (k == 69) { return x * 69 } else if (k == 70) { x * 70 } else if (k == 71) { return x * 71 }
 else if (k == 72) { x * 72 } else if (k == 73) { return x * 73 } else if (k == 74) { x * 74 }
 else if (k == 75) { return x * 75 } else if (k == 76) { x * 76 } else if (k == 77) { return x * 77 }
 else if (k == 78) { x * 78 } else if (k == 79) { return x * 79 } else if (k == 80) { x * 80 }
 else if (k == 81) { return x * 81 } else if (k == 82) { x * 82 } else if (k == 83) { return x * 83 }
 else if (k == 84) { x * 84 } else if (k == 85) { return x * 85 } else if (k == 86) { x * 86 }
 else if (k == 87) { return x * 87 } else if (k == 88) { x * 88 } else if (k == 89) { return x * 89 }
 else if (k == 90) { x * 90 } else if (k == 91) { return x * 91 } else if (k == 92) { x * 92 }
 else if (k == 93) { return x * 93 } else if (k == 94) { x * 94 } else if (k == 95) { return x * 95 }
 else if (k == 96) { x * 96 } else if (k == 97) { return x * 97 } else if (k == 98) { x * 98 }
 else if (k == 99) { return x * 99 } else if (k == 100) { x * 100 } else if (k == 101) { return x * 101 }
 else if (k == 102) { x * 102 } else if (k == 103) { return x * 103 } else if (k == 104) { x * 104 }
 else if (k == 105) { return x * 105 } else if (k == 106) { x * 106 } else if (k == 107) { return x * 107 }
 else if (k == 108) { x * 108 } else if (k == 109) { return x * 109 } else if (k == 110) { x * 110 }
 else if (k == 111) { return x * 111 } else if (k == 112) { x * 112 } else if (k == 113) { return x * 113 }
 else if (k == 114) { x * 114 } else if (k == 115) { return x * 115 } else if (k == 116) { x * 116 }
 else if (k == 117) { return x * 117 } else if (k == 118) { x * 118 } else if (k == 119) { return x * 119 }
 else if (k == 120) { x * 120 } else if (k == 121) { return x * 121 } else if (k == 122) { x * 122 }
 else if (k == 123) { return x * 123 } else if (k == 124) { x * 124 } else if (k == 125) { return x * 125 }
 else if (k == 126) { x * 126 } else if (k == 127) { return x * 127 } else if (k == 128) { x * 128 }
 else if (k == 129) { return x * 129 } else if (k == 130) { x * 130 } else if (k == 131) { return x * 131 }
 else if (k == 132) { x * 132 } else if (k == 133) { return x * 133 } else if (k == 134) { x * 134 }
 else if (k == 135) { return x * 135 } else if (k == 136) { x * 136 } else if (k == 137) { return x * 137 }
 else if (k == 138) { x * 138 } else if (k == 139) { return x * 139 } else if (k == 140) { x * 140 }
 else if (k == 141) { return x * 141 } else if (k == 142) { x * 142 } else if (k == 143) { return x * 143 }
 else if (k == 144) { x * 144 } else if (k == 145) { return x * 145 } else if (k == 146) { x * 146 }
 else if (k == 147) { return x * 147 } else if (k == 148) { x * 148 } else if (k == 149) { return x * 149 }
 else if (k == 150) { x * 150 } else if (k == 151) { return x * 151 } else if (k == 152) { x * 152 }
 else if (k == 153) { return x * 153 } else if (k == 154) { x * 154 } else if (k == 155) { return x * 155 }
 else if (k == 156) { x * 156 } else if (k == 157) { return x * 157 } else if (k == 158) { x * 158 }
 else if (k == 159) { return x * 159 } else if (k == 160) { x * 160 } else if (k == 161) { return x * 161 }
 else if (k == 162) { x * 162 } else if (k == 163) { return x * 163 } else if (k == 164) { x * 164 }
 else if (k == 165) { return x * 165 } else if (k == 166) { x * 166 } else if (k == 167) { return x * 167 }
 else if (k == 168) { x * 168 } else if (k == 169) { return x * 169 } else if (k == 170) { x * 170 }
 else if (k == 171) { return x * 171 } else if (k == 172) { x * 172 } else if (k == 173) { return x * 173 }
 else if (k == 174) { x * 174 } else if (k == 175) { return x * 175 } else if (k == 176) { x * 176 }
 else if (k == 177) { return x * 177 } else if (k == 178) { x * 178 } else if (k == 179) { return x * 179 }
 else if (k == 180) { x * 180 } else if (k == 181) { return x * 181 } else if (k == 182) { x * 182 }
 else if (k == 183) { return x * 183 } else if (k == 184) { x * 184 } else if (k == 185) { return x * 185 }
 else if (k == 186) { x * 186 } else if (k == 187) { return x * 187 } else if (k == 188) { x * 188 }
 else if (k == 189) { return x * 189 } else if (k == 190) { x * 190 } else if (k == 191) { return x * 191 }
 else if (k == 192) { x * 192 } else if (k == 193) { return x * 193 } else if (k == 194) { x * 194 }
 else if (k == 195) { return x * 195 } else if (k == 196) { x * 196 } else if (k == 197) { return x * 197 }
 else if (k == 198) { x * 198 } else if (k == 199) { return x * 199 } else if (k == 200) { x * 200 }
 else if (k == 201) { return x * 201 } else if (k == 202) { x * 202 } else if (k == 203) { return x * 203 }
 else if (k == 204) { x * 204 } else if (k == 205) { return x * 205 } else if (k == 206) { x * 206 }
 else if (k == 207) { return x * 207 } else if (k == 208) { x * 208 } else if (k == 209) { return x * 209 }
 else if (k == 210) { x * 210 } else if (k == 211) { return x * 211 } else if (k == 212) { x * 212 }
 else if (k == 213) { return x * 213 } else if (k == 214) { x * 214 } else if (k == 215) { return x * 215 }
 else if (k == 216) { x * 216 } else if (k == 217) { return x * 217 } else if (k == 218) { x * 218 }
 else if (k == 219) { return x * 219 } else if (k == 220) { x * 220 } else if (k == 221) { return x * 221 }
 else if (k == 222) { x * 222 } else if (k == 223) { return x * 223 } else if (k == 224) { x * 224 }
 else if (k == 225) { return x * 225 } else if (k == 226) { x * 226 } else if (k == 227) { return x * 227 }
 else if (k == 228) { x * 228 } else if (k == 229) { return x * 229 } else if (k == 230) { x * 230 }
 else if (k == 231) { return x * 231 } else if (k == 232) { x * 232 } else if (k == 233) { return x * 233 }
 else if (k == 234) { x * 234 } else if (k == 235) { return x * 235 } else if (k == 236) { x * 236 }
 else if (k == 237) { return x * 237 } else if (k == 238) { x * 238 } else if (k == 239) { return x * 239 }
 else if (k == 240) { x * 240 } else if (k == 241) { return x * 241 } else if (k == 242) { x * 242 }
 else if (k == 243) { return x * 243 } else if (k == 244) { x * 244 } else if (k == 245) { return x * 245 }
 else if (k == 246) { x * 246 } else if (k == 247) { return x * 247 } else if (k == 248) { x * 248 }
 else if (k == 249) { return x * 249 } else { return -x }
}
fn jumps(k, x) {
  s = 0
  for (j in 0..5) {
if (k == 0) { continue } else if (k == 1) { break } else if (k == 2) { s = s + x * 2 }
 else if (k == 3) { continue } else if (k == 4) { break } else if (k == 5) { s = s + x * 5 }
 else if (k == 6) { continue } else if (k == 7) { break } else if (k == 8) { s = s + x * 8 }
 else if (k == 9) { continue } else if (k == 10) { break } else if (k == 11) { s = s + x * 11 }
 else if (k == 12) { continue } else if (k == 13) { break } else if (k == 14) { s = s + x * 14 }
 else if (k == 15) { continue } else if (k == 16) { break } else if (k == 17) { s = s + x * 17 }
 else if (k == 18) { continue } else if (k == 19) { break } else if (k == 20) { s = s + x * 20 }
 else if (k == 21) { continue } else if (k == 22) { break } else if (k == 23) { s = s + x * 23 }
 else if (k == 24) { continue } else if (k == 25) { break } else if (k == 26) { s = s + x * 26 }
 else if (k == 27) { continue } else if (k == 28) { break } else if (k == 29) { s = s + x * 29 }
 else if (k == 30) { continue } else if (k == 31) { break } else if (k == 32) { s = s + x * 32 }
 else if (k == 33) { continue } else if (k == 34) { break } else if (k == 35) { s = s + x * 35 }
 else if (k == 36) { continue } else if (k == 37) { break } else if (k == 38) { s = s + x * 38 }
 else if (k == 39) { continue } else if (k == 40) { break } else if (k == 41) { s = s + x * 41 }
 else if (k == 42) { continue } else if (k == 43) { break } else if (k == 44) { s = s + x * 44 }
 else if (k == 45) { continue } else if (k == 46) { break } else if (k == 47) { s = s + x * 47 }
 else if (k == 48) { continue } else if (k == 49) { break } else if (k == 50) { s = s + x * 50 }
 else if (k == 51) { continue } else if (k == 52) { break } else if (k == 53) { s = s + x * 53 }
 else if (k == 54) { continue } else if (k == 55) { break } else if (k == 56) { s = s + x * 56 }
 else if (k == 57) { continue } else if (k == 58) { break } else if (k == 59) { s = s + x * 59 }
 else if (k == 60) { continue } else if (k == 61) { break } else if (k == 62) { s = s + x * 62 }
 else if (k == 63) { continue } else if (k == 64) { break } else if (k == 65) { s = s + x * 65 }
 else if (k == 66) { continue } else if (k == 67) { break } else if (k == 68) { s = s + x * 68 }
 else if (k == 69) { continue } else if (k == 70) { break } else if (k == 71) { s = s + x * 71 }
 else if (k == 72) { continue } else if (k == 73) { break } else if (k == 74) { s = s + x * 74 }
 else if (k == 75) { continue } else if (k == 76) { break } else if (k == 77) { s = s + x * 77 }
 else if (k == 78) { continue } else if (k == 79) { break } else if (k == 80) { s = s + x * 80 }
 else if (k == 81) { continue } else if (k == 82) { break } else if (k == 83) { s = s + x * 83 }
 else if (k == 84) { continue } else if (k == 85) { break } else if (k == 86) { s = s + x * 86 }
 else if (k == 87) { continue } else if (k == 88) { break } else if (k == 89) { s = s + x * 89 }
 else if (k == 90) { continue } else if (k == 91) { break } else if (k == 92) { s = s + x * 92 }
 else if (k == 93) { continue } else if (k == 94) { break } else if (k == 95) { s = s + x * 95 }
 else if (k == 96) { continue } else if (k == 97) { break } else if (k == 98) { s = s + x * 98 }
 else if (k == 99) { continue } else if (k == 100) { break } else if (k == 101) { s = s + x * 101 }
 else if (k == 102) { continue } else if (k == 103) { break } else if (k == 104) { s = s + x * 104 }
 else if (k == 105) { continue } else if (k == 106) { break } else if (k == 107) { s = s + x * 107 }
 else if (k == 108) { continue } else if (k == 109) { break } else if (k == 110) { s = s + x * 110 }
 else if (k == 111) { continue } else if (k == 112) { break } else if (k == 113) { s = s + x * 113 }
 else if (k == 114) { continue } else if (k == 115) { break } else if (k == 116) { s = s + x * 116 }
 else if (k == 117) { continue } else if (k == 118) { break } else if (k == 119) { s = s + x * 119 }
 else if (k == 120) { continue } else if (k == 121) { break } else if (k == 122) { s = s + x * 122 }
 else if (k == 123) { continue } else if (k == 124) { break } else if (k == 125) { s = s + x * 125 }
 else if (k == 126) { continue } else if (k == 127) { break } else if (k == 128) { s = s + x * 128 }
 else if (k == 129) { continue } else if (k == 130) { break } else if (k == 131) { s = s + x * 131 }
 else if (k == 132) { continue } else if (k == 133) { break } else if (k == 134) { s = s + x * 134 }
 else if (k == 135) { continue } else if (k == 136) { break } else if (k == 137) { s = s + x * 137 }
 else if (k == 138) { continue } else if (k == 139) { break } else if (k == 140) { s = s + x * 140 }
 else if (k == 141) { continue } else if (k == 142) { break } else if (k == 143) { s = s + x * 143 }
 else if (k == 144) { continue } else if (k == 145) { break } else if (k == 146) { s = s + x * 146 }
 else if (k == 147) { continue } else if (k == 148) { break } else if (k == 149) { s = s + x * 149 }
 else if (k == 150) { continue } else if (k == 151) { break } else if (k == 152) { s = s + x * 152 }
 else if (k == 153) { continue } else if (k == 154) { break } else if (k == 155) { s = s + x * 155 }
 else if (k == 156) { continue } else if (k == 157) { break } else if (k == 158) { s = s + x * 158 }
 else if (k == 159) { continue } else if (k == 160) { break } else if (k == 161) { s = s + x * 161 }
 else if (k == 162) { continue } else if (k == 163) { break } else if (k == 164) { s = s + x * 164 }
 else if (k == 165) { continue } else if (k == 166) { break } else if (k == 167) { s = s + x * 167 }
 else if (k == 168) { continue } else if (k == 169) { break } else if (k == 170) { s = s + x * 170 }
 else if (k == 171) { continue } else if (k == 172) { break } else if (k == 173) { s = s + x * 173 }
 else if (k == 174) { continue } else if (k == 175) { break } else if (k == 176) { s = s + x * 176 }
 else if (k == 177) { continue } else if (k == 178) { break } else if (k == 179) { s = s + x * 179 }
 else if (k == 180) { continue } else if (k == 181) { break } else if (k == 182) { s = s + x * 182 }
 else if (k == 183) { continue } else if (k == 184) { break } else if (k == 185) { s = s + x * 185 }
 else if (k == 186) { continue } else if (k == 187) { break } else if (k == 188) { s = s + x * 188 }
 else if (k == 189) { continue } else if (k == 190) { break } else if (k == 191) { s = s + x * 191 }
 else if (k == 192) { continue } else if (k == 193) { break } else if (k == 194) { s = s + x * 194 }
 else if (k == 195) { continue } else if (k == 196) { break } else if (k == 197) { s = s + x * 197 }
 else if (k == 198) { continue } else if (k == 199) { break } else if (k == 200) { s = s + x * 200 }
 else if (k == 201) { continue } else if (k == 202) { break } else if (k == 203) { s = s + x * 203 }
 else if (k == 204) { continue } else if (k == 205) { break } else if (k == 206) { s = s + x * 206 }
 else if (k == 207) { continue } else if (k == 208) { break } else if (k == 209) { s = s + x * 209 }
 else if (k == 210) { continue } else if (k == 211) { break } else if (k == 212) { s = s + x * 212 }
 else if (k == 213) { continue } else if (k == 214) { break } else if (k == 215) { s = s + x * 215 }
 else if (k == 216) { continue } else if (k == 217) { break } else if (k == 218) { s = s + x * 218 }
 else if (k == 219) { continue } else if (k == 220) { break } else if (k == 221) { s = s + x * 221 }
 else if (k == 222) { continue } else if (k == 223) { break } else if (k == 224) { s = s + x * 224 }
 else if (k == 225) { continue } else if (k == 226) { break } else if (k == 227) { s = s + x * 227 }
 else if (k == 228) { continue } else if (k == 229) { break } else if (k == 230) { s = s + x * 230 }
 else if (k == 231) { continue } else if (k == 232) { break } else if (k == 233) { s = s + x * 233 }
 else if (k == 234) { continue } else if (k == 235) { break } else if (k == 236) { s = s + x * 236 }
 else if (k == 237) { continue } else if (k == 238) { break } else if (k == 239) { s = s + x * 239 }
 else if (k == 240) { continue } else if (k == 241) { break } else if (k == 242) { s = s + x * 242 }
 else if (k == 243) { continue } else if (k == 244) { break } else if (k == 245) { s = s + x * 245 }
 else if (k == 246) { continue } else if (k == 247) { break } else if (k == 248) { s = s + x * 248 }
 else if (k == 249) { continue }
    s = s + 1
  }
  s
}
fn block(k, x) {
  y = x
  checkpoint <
if (k == 0) { y = sin(y) * 0 } else if (k == 1) { y = sin(y) * 1 } else if (k == 2) { y = sin(y) * 2 }
 else if (k == 3) { y = sin(y) * 3 } else if (k == 4) { y = sin(y) * 4 } else if (k == 5) { y = sin(y) * 5 }
 else if (k == 6) { y = sin(y) * 6 } else if (k == 7) { y = sin(y) * 7 } else if (k == 8) { y = sin(y) * 8 }
 else if (k == 9) { y = sin(y) * 9 } else if (k == 10) { y = sin(y) * 10 } else if (k == 11) { y = sin(y) * 11 }
 else if (k == 12) { y = sin(y) * 12 } else if (k == 13) { y = sin(y) * 13 } else if (k == 14) { y = sin(y) * 14 }
 else if (k == 15) { y = sin(y) * 15 } else if (k == 16) { y = sin(y) * 16 } else if (k == 17) { y = sin(y) * 17 }
 else if (k == 18) { y = sin(y) * 18 } else if (k == 19) { y = sin(y) * 19 } else if (k == 20) { y = sin(y) * 20 }
 else if (k == 21) { y = sin(y) * 21 } else if (k == 22) { y = sin(y) * 22 } else if (k == 23) { y = sin(y) * 23 }
 else if (k == 24) { y = sin(y) * 24 } else if (k == 25) { y = sin(y) * 25 } else if (k == 26) { y = sin(y) * 26 }
 else if (k == 27) { y = sin(y) * 27 } else if (k == 28) { y = sin(y) * 28 } else if (k == 29) { y = sin(y) * 29 }
 else if (k == 30) { y = sin(y) * 30 } else if (k == 31) { y = sin(y) * 31 } else if (k == 32) { y = sin(y) * 32 }
 else if (k == 33) { y = sin(y) * 33 } else if (k == 34) { y = sin(y) * 34 } else if (k == 35) { y = sin(y) * 35 }
 else if (k == 36) { y = sin(y) * 36 } else if (k == 37) { y = sin(y) * 37 } else if (k == 38) { y = sin(y) * 38 }
 else if (k == 39) { y = sin(y) * 39 } else if (k == 40) { y = sin(y) * 40 } else if (k == 41) { y = sin(y) * 41 }
 else if (k == 42) { y = sin(y) * 42 } else if (k == 43) { y = sin(y) * 43 } else if (k == 44) { y = sin(y) * 44 }
 else if (k == 45) { y = sin(y) * 45 } else if (k == 46) { y = sin(y) * 46 } else if (k == 47) { y = sin(y) * 47 }
 else if (k == 48) { y = sin(y) * 48 } else if (k == 49) { y = sin(y) * 49 } else if (k == 50) { y = sin(y) * 50 }
 else if (k == 51) { y = sin(y) * 51 } else if (k == 52) { y = sin(y) * 52 } else if (k == 53) { y = sin(y) * 53 }
 else if (k == 54) { y = sin(y) * 54 } else if (k == 55) { y = sin(y) * 55 } else if (k == 56) { y = sin(y) * 56 }
 else if (k == 57) { y = sin(y) * 57 } else if (k == 58) { y = sin(y) * 58 } else if (k == 59) { y = sin(y) * 59 }
 else if (k == 60) { y = sin(y) * 60 } else if (k == 61) { y = sin(y) * 61 } else if (k == 62) { y = sin(y) * 62 }
 else if (k == 63) { y = sin(y) * 63 } else if (k == 64) { y = sin(y) * 64 } else if (k == 65) { y = sin(y) * 65 }
 else if (k == 66) { y = sin(y) * 66 } else if (k == 67) { y = sin(y) * 67 } else if (k == 68) { y = sin(y) * 68 }
 else if (k == 69) { y = sin(y) * 69 } else if (k == 70) { y = sin(y) * 70 } else if (k == 71) { y = sin(y) * 71 }
 else if (k == 72) { y = sin(y) * 72 } else if (k == 73) { y = sin(y) * 73 } else if (k == 74) { y = sin(y) * 74 }
 else if (k == 75) { y = sin(y) * 75 } else if (k == 76) { y = sin(y) * 76 } else if (k == 77) { y = sin(y) * 77 }
 else if (k == 78) { y = sin(y) * 78 } else if (k == 79) { y = sin(y) * 79 } else if (k == 80) { y = sin(y) * 80 }
 else if (k == 81) { y = sin(y) * 81 } else if (k == 82) { y = sin(y) * 82 } else if (k == 83) { y = sin(y) * 83 }
 else if (k == 84) { y = sin(y) * 84 } else if (k == 85) { y = sin(y) * 85 } else if (k == 86) { y = sin(y) * 86 }
 else if (k == 87) { y = sin(y) * 87 } else if (k == 88) { y = sin(y) * 88 } else if (k == 89) { y = sin(y) * 89 }
 else if (k == 90) { y = sin(y) * 90 } else if (k == 91) { y = sin(y) * 91 } else if (k == 92) { y = sin(y) * 92 }
 else if (k == 93) { y = sin(y) * 93 } else if (k == 94) { y = sin(y) * 94 } else if (k == 95) { y = sin(y) * 95 }
 else if (k == 96) { y = sin(y) * 96 } else if (k == 97) { y = sin(y) * 97 } else if (k == 98) { y = sin(y) * 98 }
 else if (k == 99) { y = sin(y) * 99 } else if (k == 100) { y = sin(y) * 100 } else if (k == 101) { y = sin(y) * 101 }
 else if (k == 102) { y = sin(y) * 102 } else if (k == 103) { y = sin(y) * 103 } else if (k == 104) { y = sin(y) * 104 }
 else if (k == 105) { y = sin(y) * 105 } else if (k == 106) { y = sin(y) * 106 } else if (k == 107) { y = sin(y) * 107 }
 else if (k == 108) { y = sin(y) * 108 } else if (k == 109) { y = sin(y) * 109 } else if (k == 110) { y = sin(y) * 110 }
 else if (k == 111) { y = sin(y) * 111 } else if (k == 112) { y = sin(y) * 112 } else if (k == 113) { y = sin(y) * 113 }
 else if (k == 114) { y = sin(y) * 114 } else if (k == 115) { y = sin(y) * 115 } else if (k == 116) { y = sin(y) * 116 }
 else if (k == 117) { y = sin(y) * 117 } else if (k == 118) { y = sin(y) * 118 } else if (k == 119) { y = sin(y) * 119 }
 else if (k == 120) { y = sin(y) * 120 } else if (k == 121) { y = sin(y) * 121 } else if (k == 122) { y = sin(y) * 122 }
 else if (k == 123) { y = sin(y) * 123 } else if (k == 124) { y = sin(y) * 124 } else if (k == 125) { y = sin(y) * 125 }
 else if (k == 126) { y = sin(y) * 126 } else if (k == 127) { y = sin(y) * 127 } else if (k == 128) { y = sin(y) * 128 }
 else if (k == 129) { y = sin(y) * 129 } else if (k == 130) { y = sin(y) * 130 } else if (k == 131) { y = sin(y) * 131 }
 else if (k == 132) { y = sin(y) * 132 } else if (k == 133) { y = sin(y) * 133 } else if (k == 134) { y = sin(y) * 134 }
 else if (k == 135) { y = sin(y) * 135 } else if (k == 136) { y = sin(y) * 136 } else if (k == 137) { y = sin(y) * 137 }
 else if (k == 138) { y = sin(y) * 138 } else if (k == 139) { y = sin(y) * 139 } else if (k == 140) { y = sin(y) * 140 }
 else if (k == 141) { y = sin(y) * 141 } else if (k == 142) { y = sin(y) * 142 } else if (k == 143) { y = sin(y) * 143 }
 else if (k == 144) { y = sin(y) * 144 } else if (k == 145) { y = sin(y) * 145 } else if (k == 146) { y = sin(y) * 146 }
 else if (k == 147) { y = sin(y) * 147 } else if (k == 148) { y = sin(y) * 148 } else if (k == 149) { y = sin(y) * 149 }
 else if (k == 150) { y = sin(y) * 150 } else if (k == 151) { y = sin(y) * 151 } else if (k == 152) { y = sin(y) * 152 }
 else if (k == 153) { y = sin(y) * 153 } else if (k == 154) { y = sin(y) * 154 } else if (k == 155) { y = sin(y) * 155 }
 else if (k == 156) { y = sin(y) * 156 } else if (k == 157) { y = sin(y) * 157 } else if (k == 158) { y = sin(y) * 158 }
 else if (k == 159) { y = sin(y) * 159 } else if (k == 160) { y = sin(y) * 160 } else if (k == 161) { y = sin(y) * 161 }
 else if (k == 162) { y = sin(y) * 162 } else if (k == 163) { y = sin(y) * 163 } else if (k == 164) { y = sin(y) * 164 }
 else if (k == 165) { y = sin(y) * 165 } else if (k == 166) { y = sin(y) * 166 } else if (k == 167) { y = sin(y) * 167 }
 else if (k == 168) { y = sin(y) * 168 } else if (k == 169) { y = sin(y) * 169 } else if (k == 170) { y = sin(y) * 170 }
 else if (k == 171) { y = sin(y) * 171 } else if (k == 172) { y = sin(y) * 172 } else if (k == 173) { y = sin(y) * 173 }
 else if (k == 174) { y = sin(y) * 174 } else if (k == 175) { y = sin(y) * 175 } else if (k == 176) { y = sin(y) * 176 }
 else if (k == 177) { y = sin(y) * 177 } else if (k == 178) { y = sin(y) * 178 } else if (k == 179) { y = sin(y) * 179 }
 else if (k == 180) { y = sin(y) * 180 } else if (k == 181) { y = sin(y) * 181 } else if (k == 182) { y = sin(y) * 182 }
 else if (k == 183) { y = sin(y) * 183 } else if (k == 184) { y = sin(y) * 184 } else if (k == 185) { y = sin(y) * 185 }
 else if (k == 186) { y = sin(y) * 186 } else if (k == 187) { y = sin(y) * 187 } else if (k == 188) { y = sin(y) * 188 }
 else if (k == 189) { y = sin(y) * 189 } else if (k == 190) { y = sin(y) * 190 } else if (k == 191) { y = sin(y) * 191 }
 else if (k == 192) { y = sin(y) * 192 } else if (k == 193) { y = sin(y) * 193 } else if (k == 194) { y = sin(y) * 194 }
 else if (k == 195) { y = sin(y) * 195 } else if (k == 196) { y = sin(y) * 196 } else if (k == 197) { y = sin(y) * 197 }
 else if (k == 198) { y = sin(y) * 198 } else if (k == 199) { y = sin(y) * 199 } else if (k == 200) { y = sin(y) * 200 }
 else if (k == 201) { y = sin(y) * 201 } else if (k == 202) { y = sin(y) * 202 } else if (k == 203) { y = sin(y) * 203 }
 else if (k == 204) { y = sin(y) * 204 } else if (k == 205) { y = sin(y) * 205 } else if (k == 206) { y = sin(y) * 206 }
 else if (k == 207) { y = sin(y) * 207 } else if (k == 208) { y = sin(y) * 208 } else if (k == 209) { y = sin(y) * 209 }
 else if (k == 210) { y = sin(y) * 210 } else if (k == 211) { y = sin(y) * 211 } else if (k == 212) { y = sin(y) * 212 }
 else if (k == 213) { y = sin(y) * 213 } else if (k == 214) { y = sin(y) * 214 } else if (k == 215) { y = sin(y) * 215 }
 else if (k == 216) { y = sin(y) * 216 } else if (k == 217) { y = sin(y) * 217 } else if (k == 218) { y = sin(y) * 218 }
 else if (k == 219) { y = sin(y) * 219 } else if (k == 220) { y = sin(y) * 220 } else if (k == 221) { y = sin(y) * 221 }
 else if (k == 222) { y = sin(y) * 222 } else if (k == 223) { y = sin(y) * 223 } else if (k == 224) { y = sin(y) * 224 }
 else if (k == 225) { y = sin(y) * 225 } else if (k == 226) { y = sin(y) * 226 } else if (k == 227) { y = sin(y) * 227 }
 else if (k == 228) { y = sin(y) * 228 } else if (k == 229) { y = sin(y) * 229 } else if (k == 230) { y = sin(y) * 230 }
 else if (k == 231) { y = sin(y) * 231 } else if (k == 232) { y = sin(y) * 232 } else if (k == 233) { y = sin(y) * 233 }
 else if (k == 234) { y = sin(y) * 234 } else if (k == 235) { y = sin(y) * 235 } else if (k == 236) { y = sin(y) * 236 }
 else if (k == 237) { y = sin(y) * 237 } else if (k == 238) { y = sin(y) * 238 } else if (k == 239) { y = sin(y) * 239 }
 else if (k == 240) { y = sin(y) * 240 } else if (k == 241) { y = sin(y) * 241 } else if (k == 242) { y = sin(y) * 242 }
 else if (k == 243) { y = sin(y) * 243 } else if (k == 244) { y = sin(y) * 244 } else if (k == 245) { y = sin(y) * 245 }
 else if (k == 246) { y = sin(y) * 246 } else if (k == 247) { y = sin(y) * 247 } else if (k == 248) { y = sin(y) * 248 }
 else if (k == 249) { y = sin(y) * 249 } else { y = -y }
  >
  y * y
}
for (k in [0, 1, 99, 100, 101, 200, 249, 250]) {
  (v, g) = value_and_grad(value, wrt = 1)(k, 2.0)
  print(v, g, assigns(k, 2.0), grad(assigns, 1)(k, 2.0), leaves(k, 2.0), grad(leaves, 1)(k, 2.0), last(k, 2.0), grad(last, 1)(k, 2.0), jumps(k, 2.0), same(hvp(fn(x) = block(k, x), 0.5, 1.0), jvp(grad(fn(x) = block(k, x)), 0.5, 1.0)[1]))
}
# expect: 0 0 0 0 0 0 0 0 0 true
# expect: 2 1 2 1 2 1 2 1 0 true
# expect: 198 99 198 99 198 99 198 99 0 true
# expect: 200 100 200 100 200 100 200 100 0 true
# expect: 202 101 202 101 202 101 202 101 1015 true
# expect: 400 200 400 200 400 200 400 200 2005 true
# expect: 498 249 498 249 498 249 498 249 0 true
# expect: -2 -1 1 0 -2 -1 -2 -1 5 true
